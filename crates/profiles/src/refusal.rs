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
    /// Characters other than letters, apostrophes, hyphens and points, or no letter.
    #[error("holds no personal name")]
    NotAName,
    /// Not a postcode of the profile's country.
    #[error("holds no postcode of the country")]
    NotAPostcode,
    /// Other than nine digits, or with hyphens in other places than after three and five of them.
    #[error("holds no Social Security number")]
    NotAnSsn,
    /// Other than ten digits.
    #[error("holds no NHS number")]
    NotAnNhsNumber,
    /// A number that its issuer gives to no person, such as `000-12-3456` or `9999999999`.
    #[error("holds a number that is given to no person")]
    NeverIssued,
    /// Check digits that do not fit the rest: a typing error.
    #[error("holds a number with wrong check digits")]
    CheckDigits,
    /// Not the form of a country's VAT number.
    #[error("holds no VAT number")]
    NotAVatNumber,
    /// A VAT number without a country, or of a country whose rule the profile does not have.
    #[error("holds a VAT number without a country that the profile knows")]
    VatCountry,
    /// Not an IBAN of a country in the registry, or of another length.
    #[error("holds no IBAN")]
    NotAnIban,
    /// Other than 18 letters and digits and two digits.
    #[error("holds no LEI")]
    NotAnLei,
    /// No address with the name of a host.
    #[error("holds no web address")]
    NotAUrl,
    /// A host that is not a domain name, or an impossible one.
    #[error("holds a web address with an impossible domain")]
    HostDomain,
    /// A value that the agreement excludes, even if the profile can read it.
    #[error("holds a value that the agreement excludes")]
    Excluded,
    /// A cell longer than [`Profile::MAX_LEN`](crate::Profile::MAX_LEN).
    #[error("holds a value longer than 64 MiB")]
    TooLong,
}
