//! The resolver: a persistent URL leads to the archive that has the item [resolution, 5 and 8].
//!
//! Archives are registered once, with a key, and included while they run. A persistent URL is put to all included
//! archives at a time; their answers are analysed by pure rules, and the reader is redirected to the URL that an archive gave.
//! Nothing is stored of any item, and no answer is kept.
//!
//! An archive is a stranger: it is asked only at a checked address, answers are bounded and read strictly, an answer in the
//! name of another archive is dropped, and a redirect leads to the announced host only.
//!
//! | file | subject |
//! |---|---|
//! | `analysis` | which answer leads to the item, and how to go on where none does; pure |
//! | `registry` | the file of archives and their keys |
//! | `inclusion`, `key_checks` | requests of archives to be included or excluded, and limits on checking their keys |
//! | `client` | the part of readers' addresses that archives learn |
//! | `address` | which addresses may be asked |
//! | `archive` | an included archive: connections, limits, pauses after failures |
//! | `rounds` | asking all archives until an answer has the URL |
//! | `redirect` | the URL that a reader is sent to, and the acknowledgment |
//! | `alerts` | why there is no URL, for people |
//! | `server` | from a request to its answer |

mod address;
mod alerts;
mod analysis;
mod archive;
mod inclusion;
mod key_checks;
mod redirect;
mod registry;
mod rounds;
mod server;

pub use address::{Addresses, HostsError, NameService, is_public};
pub use analysis::{Analysis, Decision, Found, NoUrl, Patience, Question};
pub use archive::AskLimits;
pub use registry::{
    Inclusion, REGISTRY_HEADER, RegisteredArchive, Registry, RegistryError, RegistryFile,
};
pub use server::{Exposure, Resolver};
