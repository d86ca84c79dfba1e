//! The profiles: their names, versions and type tags.

mod base64;
mod catalogue;
mod code;
mod compact;
mod date;
mod email;
mod host;
mod integer;
mod person_name;
mod phone;
mod postcode;
mod registered;
mod siblings;
mod text;
mod uuid;
mod vat;

pub use catalogue::CatalogueRow;
pub(crate) use text::form_c;
pub use text::trimmed;

use crate::fold::Umlauts;
use crate::refusal::Refusal;
use catalogue::*;
use std::fmt;
use std::str::FromStr;

/// A rule that maps a cell to the value that is compared.
///
/// Written as a name with at most one parameter: `trim`, `phone:GB`, `hex:sha256`.
///
/// ```
/// use vesica_profiles::{Normalised, Profile};
///
/// let phone: Profile = "phone:GB".parse()?;
/// let mut normal = Vec::new();
/// assert_eq!(phone.normalise("020 7946 0018", &mut normal)?, Normalised::Value);
/// assert_eq!(normal, b"+442079460018");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Exact,
    Trim,
    Lower,
    Email,
    EmailGoogle,
    Phone(phone::Region),
    Date(Option<date::Order>),
    Digits,
    Hex(Option<code::Digest>),
    Integer(u32),
    Ipv4,
    Uuid,
    PersonName(Umlauts),
    Postcode(postcode::Country),
    SsnUs,
    Nhs,
    VatEu,
    Iban,
    Lei,
    UrlHost,
}

/// How the cells of typed columns become the texts that a profile reads, where that depends on the
/// profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypedForm {
    /// Whether the zeros at the end of a decimal's fraction are dropped, so that 12.00 equals 12.
    pub drops_zeros: bool,
    /// A binary value of this number of bytes is not text: it becomes hexadecimal digits.
    pub raw_bytes: Option<usize>,
}

/// The result of a profile for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Normalised {
    /// The compared value was appended to the buffer; it is not empty.
    Value,
    /// There is no value; the row has no key.
    Empty,
}

/// A name that is not a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// There is no profile of that name.
    #[error("there is no profile {name:?}")]
    Unknown {
        /// The requested name.
        name: String,
        /// The nearest known name, if one is similar.
        nearest: Option<&'static str>,
    },
    /// The profile needs a parameter, such as `phone:GB`.
    #[error("the profile {name:?} needs a parameter")]
    MissingParameter {
        /// The requested name.
        name: &'static str,
    },
    /// The profile does not know the parameter.
    #[error("the profile {name:?} has no parameter {parameter:?}")]
    UnknownParameter {
        /// The requested name.
        name: &'static str,
        /// The requested parameter.
        parameter: String,
    },
}

impl Profile {
    /// Longest accepted value, in bytes.
    pub const MAX_LEN: usize = 64 << 20;

    /// The bytes unchanged.
    pub const EXACT: Profile = Profile { kind: Kind::Exact };
    /// Blanks at both ends removed.
    pub const TRIM: Profile = Profile { kind: Kind::Trim };
    /// Trimmed and in lower case.
    pub const LOWER: Profile = Profile { kind: Kind::Lower };
    /// An e-mail address.
    pub const EMAIL: Profile = Profile { kind: Kind::Email };

    /// All profiles.
    pub fn catalogue() -> &'static [CatalogueRow] {
        ROWS
    }

    fn row(self) -> &'static CatalogueRow {
        match self.kind {
            Kind::Exact => &EXACT,
            Kind::Trim => &TRIM,
            Kind::Lower => &LOWER,
            Kind::Email => &EMAIL,
            Kind::EmailGoogle => &EMAIL_GOOGLE,
            Kind::Phone(_) => &PHONE,
            Kind::Date(None) => &DATE,
            Kind::Date(Some(date::Order::DayFirst)) => &DATE_DMY,
            Kind::Date(Some(date::Order::MonthFirst)) => &DATE_MDY,
            Kind::Digits => &DIGITS,
            Kind::Hex(None) => &HEX,
            Kind::Hex(Some(_)) => &HEX_DIGEST,
            Kind::Integer(_) => &INTEGER,
            Kind::Ipv4 => &IPV4,
            Kind::Uuid => &UUID,
            Kind::PersonName(Umlauts::Bare) => &PERSON_NAME,
            Kind::PersonName(Umlauts::WithE) => &PERSON_NAME_DE,
            Kind::Postcode(_) => &POSTCODE,
            Kind::SsnUs => &SSN_US,
            Kind::Nhs => &NHS,
            Kind::VatEu => &VAT_EU,
            Kind::Iban => &IBAN,
            Kind::Lei => &LEI,
            Kind::UrlHost => &URL_HOST,
        }
    }

    /// Its name in an agreement, with the parameter.
    pub fn name(self) -> String {
        self.to_string()
    }

    /// Version of its outputs: both parties must use the same.
    pub fn version(self) -> u32 {
        self.row().version
    }

    /// Its description, in one line.
    pub fn description(self) -> &'static str {
        self.row().description
    }

    /// The type tag of its values in the key encoding.
    pub fn tag(self) -> u8 {
        match self.kind {
            Kind::Exact | Kind::Trim | Kind::Lower => 1,
            Kind::Email | Kind::EmailGoogle => 2,
            Kind::Phone(_) => 3,
            Kind::Date(_) => 4,
            Kind::Digits => 5,
            Kind::Hex(_) => 6,
            Kind::Integer(_) => 7,
            Kind::Ipv4 => 8,
            Kind::Uuid => 9,
            Kind::PersonName(_) => 10,
            Kind::Postcode(_) => 11,
            Kind::SsnUs => 12,
            Kind::Nhs => 13,
            Kind::VatEu => 14,
            Kind::Iban => 15,
            Kind::Lei => 16,
            Kind::UrlHost => 17,
        }
    }

    /// How cells of typed columns become the texts that it reads.
    pub fn typed_form(self) -> TypedForm {
        let raw_bytes = match self.kind {
            Kind::Hex(digest) => digest.map(code::Digest::bytes),
            Kind::Uuid => Some(uuid::BYTES),
            _ => None,
        };
        TypedForm { drops_zeros: self.kind != Kind::Exact, raw_bytes }
    }

    /// Whether numbers are compared as they are written.
    pub fn keeps_numbers(self) -> bool {
        matches!(self.kind, Kind::Trim | Kind::Lower)
    }

    /// Whether its values are days.
    pub fn takes_days(self) -> bool {
        matches!(self.kind, Kind::Date(_))
    }

    /// Whether a value can be a date, `YYYY-MM-DD`.
    pub fn can_be_date(self) -> bool {
        matches!(self.kind, Kind::Exact | Kind::Trim | Kind::Lower | Kind::Date(_))
    }

    /// Whether a value can have letters.
    pub fn can_have_letters(self) -> bool {
        !matches!(
            self.kind,
            Kind::Phone(_)
                | Kind::Date(_)
                | Kind::Digits
                | Kind::Integer(_)
                | Kind::Ipv4
                | Kind::SsnUs
                | Kind::Nhs
        )
    }

    /// Whether the hexadecimal digits of bytes that are no text may be its values.
    pub fn takes_bytes(self) -> bool {
        matches!(self.kind, Kind::Exact | Kind::Hex(_) | Kind::Uuid)
    }

    /// Bits of its integers, for profiles of a small domain.
    pub fn integer_bits(self) -> Option<u32> {
        match self.kind {
            Kind::Integer(bits) => Some(bits),
            Kind::Ipv4 => Some(32),
            _ => None,
        }
    }

    /// The integer of a normal form; 0 for profiles without [`Profile::integer_bits`].
    pub fn integer(self, normal: &[u8]) -> u64 {
        match self.kind {
            Kind::Integer(_) => integer::number(normal),
            Kind::Ipv4 => integer::address(normal),
            _ => 0,
        }
    }

    /// Appends the normal form of `value` to `out`.
    ///
    /// Unless the result is [`Normalised::Value`], `out` is unchanged.
    ///
    /// # Errors
    /// The reason, if the value is not valid for the profile.
    pub fn normalise(self, value: &str, out: &mut Vec<u8>) -> Result<Normalised, Refusal> {
        self.normalise_cell(value.as_bytes(), out)
    }

    /// [`Profile::normalise`] for bytes known to be UTF-8.
    #[inline]
    pub fn normalise_cell(self, cell: &[u8], out: &mut Vec<u8>) -> Result<Normalised, Refusal> {
        if cell.len() > Self::MAX_LEN {
            return Err(Refusal::TooLong);
        }
        let start = out.len();
        let done = match self.kind {
            Kind::Exact => {
                out.extend_from_slice(cell);
                Ok(())
            }
            Kind::Trim => text::trim(cell, out),
            Kind::Lower => text::lower(cell, out),
            Kind::Email => email::email(cell, out),
            Kind::EmailGoogle => email::google(cell, out),
            Kind::Phone(region) => phone::e164(cell, region, out),
            Kind::Date(order) => date::iso(cell, order, out),
            Kind::Digits => code::digits(cell, out),
            Kind::Hex(digest) => code::hex(cell, digest, out),
            Kind::Integer(bits) => integer::integer(cell, bits, out),
            Kind::Ipv4 => integer::ipv4(cell, out),
            Kind::Uuid => uuid::uuid(cell, out),
            Kind::PersonName(umlauts) => person_name::name(cell, umlauts, out),
            Kind::Postcode(country) => postcode::postcode(cell, country, out),
            Kind::SsnUs => registered::ssn_us(cell, out),
            Kind::Nhs => registered::nhs(cell, out),
            Kind::VatEu => vat::vat(cell, out),
            Kind::Iban => registered::iban(cell, out),
            Kind::Lei => registered::lei(cell, out),
            Kind::UrlHost => host::host(cell, out),
        };
        if let Err(reason) = done {
            out.truncate(start);
            return Err(reason);
        }
        Ok(if out.len() == start { Normalised::Empty } else { Normalised::Value })
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Phone(region) => write!(f, "phone:{region}"),
            Kind::Hex(Some(digest)) => write!(f, "hex:{digest}"),
            Kind::Integer(bits) => write!(f, "integer:{bits}"),
            Kind::Postcode(country) => write!(f, "postcode:{country}"),
            _ => f.write_str(self.row().name),
        }
    }
}

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let unknown_parameter = |name| ProfileError::UnknownParameter {
            name,
            parameter: parameter.unwrap_or_default().to_string(),
        };
        let kind = match (name, parameter) {
            ("exact", None) => Kind::Exact,
            ("trim", None) => Kind::Trim,
            ("lower", None) => Kind::Lower,
            ("email", None) => Kind::Email,
            ("email", Some("google")) => Kind::EmailGoogle,
            ("phone", None) => return Err(ProfileError::MissingParameter { name: "phone" }),
            ("phone", Some(region)) => {
                Kind::Phone(phone::Region::new(region).ok_or_else(|| unknown_parameter("phone"))?)
            }
            ("date", None) => Kind::Date(None),
            ("date", Some("dmy")) => Kind::Date(Some(date::Order::DayFirst)),
            ("date", Some("mdy")) => Kind::Date(Some(date::Order::MonthFirst)),
            ("digits", None) => Kind::Digits,
            ("hex", None) => Kind::Hex(None),
            ("hex", Some(digest)) => {
                Kind::Hex(Some(code::Digest::new(digest).ok_or_else(|| unknown_parameter("hex"))?))
            }
            ("integer", None) => return Err(ProfileError::MissingParameter { name: "integer" }),
            ("integer", Some(bits)) => {
                Kind::Integer(integer::bits(bits).ok_or_else(|| unknown_parameter("integer"))?)
            }
            ("ipv4", None) => Kind::Ipv4,
            ("uuid", None) => Kind::Uuid,
            ("person-name", None) => Kind::PersonName(Umlauts::Bare),
            ("person-name", Some("de")) => Kind::PersonName(Umlauts::WithE),
            ("postcode", None) => return Err(ProfileError::MissingParameter { name: "postcode" }),
            ("postcode", Some(country)) => Kind::Postcode(
                postcode::Country::new(country).ok_or_else(|| unknown_parameter("postcode"))?,
            ),
            ("ssn-us", None) => Kind::SsnUs,
            ("nhs", None) => Kind::Nhs,
            ("vat-eu", None) => Kind::VatEu,
            ("iban", None) => Kind::Iban,
            ("lei", None) => Kind::Lei,
            ("url-host", None) => Kind::UrlHost,
            _ => {
                const NAMES: [&str; 19] = [
                    "exact",
                    "trim",
                    "lower",
                    "email",
                    "phone",
                    "date",
                    "digits",
                    "hex",
                    "integer",
                    "ipv4",
                    "uuid",
                    "person-name",
                    "postcode",
                    "ssn-us",
                    "nhs",
                    "vat-eu",
                    "iban",
                    "lei",
                    "url-host",
                ];
                if let Some(name) = NAMES.into_iter().find(|known| *known == name) {
                    return Err(unknown_parameter(name));
                }
                let likeness = |known: &&str| (strsim::jaro_winkler(known, name) * 1000.0) as u32;
                // Any two letters make another word similar to a name of three.
                let is_like =
                    |known: &&str| likeness(known) > if known.len() > 3 { 700 } else { 800 };
                return Err(ProfileError::Unknown {
                    name: text.to_string(),
                    nearest: NAMES.into_iter().filter(is_like).max_by_key(likeness),
                });
            }
        };
        Ok(Self { kind })
    }
}
