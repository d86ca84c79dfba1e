//! Why a value is refused.

/// Why a profile refused a value. Completes the sentence "the column …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Not of the form `local@domain`.
    #[error("holds no e-mail address")]
    NotAnEmail,
    /// The part after the `@` is not a domain name.
    #[error("holds an e-mail address with an impossible domain")]
    EmailDomain,
    /// Not a telephone number.
    #[error("holds no telephone number")]
    NotAPhone,
    /// A number that no subscriber can have: too short, too long, or an unknown country code.
    #[error("holds an impossible telephone number")]
    ImpossiblePhone,
    /// A number without a plus whose first digits may be the country code, or not: both numbers may
    /// exist.
    #[error("holds a telephone number that could begin with a country code")]
    AmbiguousPhone,
    /// Two numbers, or one and the end of another.
    #[error("holds two telephone numbers")]
    TwoPhones,
    /// A number with an extension, which E.164 cannot hold.
    #[error("holds a telephone number with an extension")]
    PhoneExtension,
    /// Not a date, or a day that does not exist.
    #[error("holds no date")]
    NotADate,
    /// Day and month could be swapped.
    #[error("holds a date whose day and month could be swapped")]
    AmbiguousDate,
    /// A year of two digits.
    #[error("holds a date with a two-digit year")]
    ShortYear,
    /// A date with a time other than midnight, which is another day in some time zones.
    #[error("holds a date with a time of day")]
    TimeOfDay,
    /// A date in another time zone than UTC: in other zones it is another day.
    #[error("holds a date in a time zone other than UTC")]
    TimeZone,
    /// A character other than digits and separators.
    #[error("holds characters other than digits")]
    NotDigits,
    /// A number with decimals, such as `12.50`, `12345.0` or `1.234,50`.
    #[error("holds a decimal number")]
    DecimalNumber,
    /// A character other than hexadecimal digits.
    #[error("holds characters other than hexadecimal digits")]
    NotHex,
    /// Hexadecimal digits of the wrong length for the profile.
    #[error("holds a hexadecimal value of another length")]
    HexLen,
    /// The digest of an empty text, which is no value's.
    #[error("holds the digest of an empty text")]
    DigestOfNothing,
    /// Not a number, or one with a sign, a point or separators.
    #[error("holds no whole number without a sign")]
    NotAnInteger,
    /// A number with more bits than the profile's parameter.
    #[error("holds a number of more bits than the profile takes")]
    IntegerTooLarge,
    /// Not an IPv4 address in dotted decimal form.
    #[error("holds no IPv4 address")]
    NotAnIpv4Address,
    /// Something other than the text or the Base64 of a UUID.
    #[error("holds no UUID")]
    NotAUuid,
    /// Other than 32 hexadecimal digits.
    #[error("holds hexadecimal digits that are too few or too many for a UUID")]
    UuidLen,
    /// 32 hexadecimal digits with dashes in other places than after 8, 12, 16 and 20 of them.
    #[error("holds hexadecimal digits with dashes in other places than in a UUID")]
    UuidDashes,
    /// A value that the agreement excludes, even if the profile can read it.
    #[error("holds a value that the agreement excludes")]
    Excluded,
    /// A cell longer than [`Profile::MAX_LEN`](crate::Profile::MAX_LEN).
    #[error("holds a value longer than 64 MiB")]
    TooLong,
}
