//! TLS 1.3 (RFC 8446) between two parties that know each other's keys.
//!
//! Both sides present a raw Ed25519 public key (RFC 7250) and check the other's against the
//! expected identities; there are no certificates, names or authorities. No tickets, no resumption,
//! no early data. The key exchange is X25519MLKEM768 if both sides support it, so that a later
//! quantum computer cannot open a session recorded today.

use crate::{Identity, LinkError, PublicIdentity};
use aws_lc_rs::signature::Ed25519KeyPair;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs as provider, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, Connection,
    DigitallySignedStruct, DistinguishedName, Error as TlsError, OtherError, PeerIncompatible,
    ServerConfig, ServerConnection, SignatureAlgorithm, SignatureScheme,
};
use std::fmt;
use std::sync::Arc;

/// The name of the session protocol and its version (ALPN, RFC 7301).
pub(crate) const PROTOCOL: &[u8] = b"vesica/2";

/// The bytes before an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410, §4).
const SPKI_PREFIX: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Both configurations of one party, created once and used for every attempt.
#[derive(Clone)]
pub(crate) struct Tls {
    own: PublicIdentity,
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl Tls {
    /// Settings that let only `peers` connect to `own`.
    pub(crate) fn new(own: &Identity, peers: &[PublicIdentity]) -> Self {
        let provider = Arc::new(suites());
        let pins = Arc::new(Pins {
            own: own.public(),
            peers: peers.to_vec(),
            provider: Arc::clone(&provider),
        });
        let key = Arc::new(CertifiedKey::new(
            vec![CertificateDer::from(to_spki(&own.public()))],
            Arc::new(Ed25519Key(Arc::clone(own.key_pair()))),
        ));

        let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("the suites are TLS 1.3 suites")
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&pins) as Arc<dyn ServerCertVerifier>)
            .with_client_cert_resolver(Arc::new(
                rustls::client::AlwaysResolvesClientRawPublicKeys::new(Arc::clone(&key)),
            ));
        client.alpn_protocols = vec![PROTOCOL.to_vec()];
        client.resumption = rustls::client::Resumption::disabled();

        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("the suites are TLS 1.3 suites")
            .with_client_cert_verifier(pins)
            .with_cert_resolver(Arc::new(rustls::server::AlwaysResolvesServerRawPublicKeys::new(
                key,
            )));
        server.alpn_protocols = vec![PROTOCOL.to_vec()];
        server.ignore_client_order = true;
        server.send_tls13_tickets = 0;
        server.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});

        Self { own: own.public(), client: Arc::new(client), server: Arc::new(server) }
    }

    /// The connecting end; `host` becomes the server name, which proxies use for routing.
    pub(crate) fn connecting(&self, host: &str) -> Result<Connection, LinkError> {
        let name = ServerName::try_from(host)
            .or_else(|_| ServerName::try_from("vesica.invalid"))
            .map_err(|_| LinkError::BadAddress)?
            .to_owned();
        ClientConnection::new(Arc::clone(&self.client), name)
            .map(Connection::from)
            .map_err(|error| classify(&error))
    }

    /// The listening end.
    pub(crate) fn listening(&self) -> Result<Connection, LinkError> {
        ServerConnection::new(Arc::clone(&self.server))
            .map(Connection::from)
            .map_err(|error| classify(&error))
    }

    /// The peer's identity after a completed handshake.
    ///
    /// # Errors
    /// [`LinkError::OwnIdentity`]; [`LinkError::OtherVersion`] if no common version was agreed.
    pub(crate) fn peer_of(&self, tls: &Connection) -> Result<PublicIdentity, LinkError> {
        if tls.alpn_protocol() != Some(PROTOCOL) {
            return Err(LinkError::OtherVersion);
        }
        let presented = tls.peer_certificates().and_then(<[_]>::first);
        match presented.and_then(|spki| from_spki(spki)) {
            Some(peer) if peer == self.own => Err(LinkError::OwnIdentity),
            Some(peer) => Ok(peer),
            None => Err(LinkError::OtherProtocol),
        }
    }
}

/// AES-128-GCM first: κ is 128, and it is the fastest on every processor with AES instructions.
fn suites() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: vec![
            provider::cipher_suite::TLS13_AES_128_GCM_SHA256,
            provider::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ],
        kx_groups: vec![provider::kx_group::X25519MLKEM768, provider::kx_group::X25519],
        ..provider::default_provider()
    }
}

/// The error for a TLS failure during the handshake.
pub(crate) fn classify(error: &TlsError) -> LinkError {
    use AlertDescription as Alert;
    match error {
        TlsError::InvalidCertificate(CertificateError::Other(other)) => {
            match other.0.downcast_ref::<UnexpectedIdentity>() {
                Some(UnexpectedIdentity(presented)) => {
                    LinkError::WrongIdentity { presented: *presented }
                }
                None => LinkError::OtherProtocol,
            }
        }
        TlsError::NoApplicationProtocol | TlsError::AlertReceived(Alert::NoApplicationProtocol) => {
            LinkError::OtherVersion
        }
        TlsError::AlertReceived(
            Alert::CertificateUnknown | Alert::AccessDenied | Alert::BadCertificate,
        ) => LinkError::RefusedByPeer,
        _ => LinkError::OtherProtocol,
    }
}

fn to_spki(identity: &PublicIdentity) -> Vec<u8> {
    [SPKI_PREFIX.as_slice(), identity.as_bytes()].concat()
}

fn from_spki(spki: &[u8]) -> Option<PublicIdentity> {
    let key = spki.strip_prefix(&SPKI_PREFIX)?;
    key.try_into().ok().map(PublicIdentity::from_bytes)
}

/// A valid identity that is not one of the expected.
#[derive(Debug)]
struct UnexpectedIdentity(PublicIdentity);

impl fmt::Display for UnexpectedIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unexpected identity {}", self.0)
    }
}

impl std::error::Error for UnexpectedIdentity {}

/// The identities that the other end may have.
///
/// Our own passes here and is refused after the handshake: by then the other side has proved that
/// it holds our key, and both sides can be told.
#[derive(Debug)]
struct Pins {
    own: PublicIdentity,
    peers: Vec<PublicIdentity>,
    provider: Arc<CryptoProvider>,
}

impl Pins {
    fn check(&self, spki: &[u8], rest: &[CertificateDer<'_>]) -> Result<(), TlsError> {
        let presented = from_spki(spki)
            .filter(|_| rest.is_empty())
            .ok_or(TlsError::InvalidCertificate(CertificateError::BadEncoding))?;
        if presented == self.own || self.peers.contains(&presented) {
            return Ok(());
        }
        Err(CertificateError::Other(OtherError(Arc::new(UnexpectedIdentity(presented)))).into())
    }

    fn check_signature(
        &self,
        message: &[u8],
        spki: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let spki = SubjectPublicKeyInfoDer::from(spki.as_ref());
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &spki, signed, algorithms)
    }
}

fn tls12_is_off() -> TlsError {
    PeerIncompatible::ServerDoesNotSupportTls12Or13.into()
}

/// The methods that rustls wants of both ends' verifiers: raw Ed25519 keys, TLS 1.3 only.
macro_rules! raw_key_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _spki: &CertificateDer<'_>,
            _signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, TlsError> {
            Err(tls12_is_off())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            spki: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, TlsError> {
            self.check_signature(message, spki, signed)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pins {
    fn verify_server_cert(
        &self,
        spki: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        self.check(spki, rest).map(|()| ServerCertVerified::assertion())
    }

    raw_key_signatures!();
}

impl ClientCertVerifier for Pins {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        spki: &CertificateDer<'_>,
        rest: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        self.check(spki, rest).map(|()| ClientCertVerified::assertion())
    }

    raw_key_signatures!();
}

/// Signs handshakes without a second copy of the key in memory.
struct Ed25519Key(Arc<Ed25519KeyPair>);

impl fmt::Debug for Ed25519Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ed25519Key(..)")
    }
}

impl SigningKey for Ed25519Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let offered = offered.contains(&SignatureScheme::ED25519);
        offered.then(|| Box::new(Ed25519Key(Arc::clone(&self.0))) as Box<dyn Signer>)
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ED25519
    }
}

impl Signer for Ed25519Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, TlsError> {
        self.0
            .try_sign(message)
            .map(|signature| signature.as_ref().to_vec())
            .map_err(|_| TlsError::General("signing failed".into()))
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ED25519
    }
}
