//! What others than urepo have done is noticed.
