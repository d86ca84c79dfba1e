//! Which types of columns can be keys, and under which profiles.

use super::cells::{UUID_BYTES, can_be_key, flat, is_uuid, type_name};
use arrow_schema::{DataType, Field};
use std::path::Path;
use vesica_inputs::error::InputError;
use vesica_profiles::Profile;

/// Why a typed column cannot be a key.
pub(crate) enum KeyTypeFault {
    /// No cell has a text that can be compared.
    Unsupported { type_name: String },
    /// Days are wanted of points in time, whose day depends on where one is.
    TimeZone,
    /// 16 bytes, probably a UUID, whose hexadecimal digits would equal no text of a UUID.
    Bytes,
}

impl KeyTypeFault {
    pub(crate) fn into_error(self, path: &Path, column: &str) -> InputError {
        let (path, column) = (path.to_path_buf(), column.to_owned());
        match self {
            KeyTypeFault::Unsupported { type_name } => {
                InputError::UnsupportedKeyType { path, column, type_name }
            }
            KeyTypeFault::TimeZone => InputError::DayWithTimeZone { path, column },
            KeyTypeFault::Bytes => InputError::SixteenBytes { path, column },
        }
    }
}

/// Whether a column can be a key under a profile.
pub(crate) fn check_key(field: &Field, profile: Profile) -> Result<(), KeyTypeFault> {
    if !can_be_key(field.data_type()) {
        return Err(KeyTypeFault::Unsupported { type_name: type_name(field.data_type()) });
    }
    match flat(field.data_type()) {
        DataType::Timestamp(_, Some(_)) if profile.takes_days() => Err(KeyTypeFault::TimeZone),
        DataType::FixedSizeBinary(UUID_BYTES) if !is_uuid(field) && !profile.takes_bytes() => {
            Err(KeyTypeFault::Bytes)
        }
        _ => Ok(()),
    }
}
