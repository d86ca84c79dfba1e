//! The rows of the catalogue: names, versions of outputs, descriptions.

/// One profile, for documents and listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogueRow {
    /// Its name; a parameter in angle brackets represents its values.
    pub name: &'static str,
    /// Version of its outputs.
    pub version: u32,
    /// Its description, in one line.
    pub description: &'static str,
}

const fn row(name: &'static str, version: u32, description: &'static str) -> CatalogueRow {
    CatalogueRow { name, version, description }
}

pub(super) const EXACT: CatalogueRow =
    row("exact", 2, "the bytes as they are; only a zero-length value is empty");
pub(super) const TRIM: CatalogueRow =
    row("trim", 3, "blanks at both ends and unseen characters removed, Unicode form C");
pub(super) const LOWER: CatalogueRow = row("lower", 3, "as trim, then Unicode lower case");
pub(super) const EMAIL: CatalogueRow =
    row("email", 3, "trimmed, lower case, domain in IDNA ASCII form; nothing provider-specific");
pub(super) const EMAIL_GOOGLE: CatalogueRow = row(
    "email:google",
    3,
    "as email; for gmail.com and googlemail.com also dots and +tags removed, domain gmail.com",
);
pub(super) const PHONE: CatalogueRow = row(
    "phone:<REGION>",
    3,
    "E.164; numbers without country code belong to the region, as phone:GB",
);
pub(super) const DATE: CatalogueRow =
    row("date", 3, "YYYY-MM-DD out of the common forms; ambiguous day and month refused");
pub(super) const DATE_DMY: CatalogueRow =
    row("date:dmy", 3, "as date; where ambiguous the day comes first");
pub(super) const DATE_MDY: CatalogueRow =
    row("date:mdy", 3, "as date; where ambiguous the month comes first");
pub(super) const DIGITS: CatalogueRow = row(
    "digits",
    3,
    "digits only; separators removed, leading zeros kept, decimal numbers and anything else \
     refused",
);
pub(super) const HEX: CatalogueRow =
    row("hex", 3, "hexadecimal, lower case, without 0x; an even number of digits");
pub(super) const HEX_DIGEST: CatalogueRow = row(
    "hex:<DIGEST>",
    4,
    "as hex, of the digest's length, or its Base64: md5, sha1, sha224, sha256, sha384, sha512",
);

pub(super) const INTEGER: CatalogueRow =
    row("integer:<BITS>", 3, "a whole number of at most BITS bits, 1 to 64; leading zeros removed");
pub(super) const IPV4: CatalogueRow = row("ipv4", 3, "an IPv4 address in dotted decimal form");
pub(super) const UUID: CatalogueRow = row(
    "uuid",
    1,
    "a UUID in lower case with dashes; out of text with or without dashes, 16 bytes, or Base64",
);
pub(super) const PERSON_NAME: CatalogueRow = row(
    "person-name",
    1,
    "lower case, Latin letters in ASCII, particles joined to the next word, no apostrophes or \
     titles",
);
pub(super) const PERSON_NAME_DE: CatalogueRow =
    row("person-name:de", 1, "as person-name; umlauts become ae, oe and ue");
pub(super) const POSTCODE: CatalogueRow = row(
    "postcode:<COUNTRY>",
    1,
    "a postcode as the country's post prints it, as postcode:GB; of ZIP+4 the first five digits",
);
pub(super) const SSN_US: CatalogueRow =
    row("ssn-us", 1, "a Social Security number of the United States, nine digits");
pub(super) const NHS: CatalogueRow =
    row("nhs", 1, "an NHS number, ten digits, the check digit right");
pub(super) const VAT_EU: CatalogueRow = row(
    "vat-eu",
    1,
    "a VAT number of the European Union or the United Kingdom with its country, check digits right",
);
pub(super) const IBAN: CatalogueRow =
    row("iban", 1, "an IBAN in upper case without blanks, check digits right");
pub(super) const LEI: CatalogueRow =
    row("lei", 1, "a legal entity identifier in upper case, check digits right");
pub(super) const URL_HOST: CatalogueRow =
    row("url-host", 1, "the host of a web address in lower case and IDNA ASCII form, without www");

/// All rows, as documents list them.
pub(super) const ROWS: &[CatalogueRow] = &[
    EXACT,
    TRIM,
    LOWER,
    EMAIL,
    EMAIL_GOOGLE,
    PHONE,
    DATE,
    DATE_DMY,
    DATE_MDY,
    DIGITS,
    HEX,
    HEX_DIGEST,
    INTEGER,
    IPV4,
    UUID,
    PERSON_NAME,
    PERSON_NAME_DE,
    POSTCODE,
    SSN_US,
    NHS,
    VAT_EU,
    IBAN,
    LEI,
    URL_HOST,
];
