//! Identifiers in serialized data are plain texts.

/// Implements serde's traits for a type: written as `Display` does, read by `$read`.
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

pub(super) use as_text;
