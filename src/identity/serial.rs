//! The traits that all texts of this module share.

/// Displays a type as its text in `$field`.
macro_rules! displays {
    ($type:ident, $field:tt) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.$field)
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($type)).field(&self.$field).finish()
            }
        }
    };
}

/// Writes a type into TOML and JSON as it is displayed; `$read` reads it there.
macro_rules! as_text {
    ($type:ty, $read:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$type, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                $read(&text).map_err(|error| {
                    serde::de::Error::custom(format_args!("{error}: {}", error.expected()))
                })
            }
        }
    };
}

/// Makes a type equal, and puts it in order, by [`Ord`] alone.
macro_rules! by_order {
    ($type:ident) => {
        impl PartialEq for $type {
            fn eq(&self, other: &$type) -> bool {
                self.cmp(other).is_eq()
            }
        }

        impl Eq for $type {}

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &$type) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
    };
}

/// Compares a type by its text in `$field`, whatever the case.
macro_rules! caseless {
    ($type:ident, $field:tt) => {
        crate::identity::serial::by_order!($type);

        impl Ord for $type {
            fn cmp(&self, other: &$type) -> std::cmp::Ordering {
                crate::identity::folding::compare(&self.$field, &other.$field)
            }
        }

        impl std::hash::Hash for $type {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                crate::identity::folding::hash(&[&self.$field], state);
            }
        }
    };
}

pub(super) use {as_text, by_order, caseless, displays};
