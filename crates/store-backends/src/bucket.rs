//! A bucket as a store.

use crate::cause::Cause;
use crate::error::{Service, StoresError};
use crate::runtime::Runtime;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ObjectStore, ObjectStoreExt, PutMode, PutPayload, RetryConfig,
};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use vesica_store_session::{Lengths, Listed, Store};

/// How long requests are retried while the service does not answer.
const RETRY: Duration = Duration::from_secs(30);

/// The same while the store is opened: a user is waiting then.
const RETRY_AT_OPENING: Duration = Duration::from_secs(5);

/// The longest pause between two retries.
const BACKOFF_MAX: Duration = Duration::from_secs(5);

/// More retries than fit into that time.
const RETRIES_MAX: usize = 1000;

/// More than the largest object takes. The library has one limit for all requests; the limits below
/// depend on the object.
const LIBRARY_LIMIT: &str = "6 hours";

/// How many times an object is written again after another request for its name was in progress,
/// and the pause before each retry.
const AGAIN: (u32, Duration) = (10, Duration::from_millis(300));

/// For a request with a small body, with all its retries.
const SHORT: Duration = Duration::from_secs(60);

/// The lowest speed that the time for an object allows for.
const SLOWEST_BYTES_PER_SECOND: u64 = 64 << 10;

/// The variables that hold credentials or say where they come from. One is enough.
fn credentials(service: Service) -> &'static [&'static str] {
    match service {
        Service::S3 => &[
            "AWS_ACCESS_KEY_ID",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "AWS_SKIP_SIGNATURE",
        ],
        Service::Google => &[
            "GOOGLE_SERVICE_ACCOUNT",
            "GOOGLE_SERVICE_ACCOUNT_PATH",
            "GOOGLE_SERVICE_ACCOUNT_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_SKIP_SIGNATURE",
        ],
        Service::Azure => &[
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_STORAGE_ACCESS_KEY",
            "AZURE_STORAGE_SAS_TOKEN",
            "AZURE_STORAGE_SAS_KEY",
            "AZURE_STORAGE_TOKEN",
            "AZURE_STORAGE_CLIENT_SECRET",
            "AZURE_CLIENT_SECRET",
            "AZURE_FEDERATED_TOKEN_FILE",
            "AZURE_USE_AZURE_CLI",
            "AZURE_SKIP_SIGNATURE",
        ],
    }
}

/// An object of the store is an object of the bucket. It appears whole when the one request that
/// writes it is done, and of two requests that write the same name one is refused, as the service
/// promises for conditional requests.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// Dropped before the runtime on which its connections live.
    objects: Arc<dyn ObjectStore>,
    runtime: Runtime,
    prefix: Path,
    place: String,
}

impl Bucket {
    /// The store below `prefix` in the bucket `name`, which must exist.
    ///
    /// # Errors
    /// [`StoresError`].
    pub(crate) fn open(service: Service, name: &str, prefix: &str) -> Result<Self, StoresError> {
        let scheme = match service {
            Service::S3 => "s3",
            Service::Google => "gs",
            Service::Azure => "az",
        };
        let slash = if prefix.is_empty() { "" } else { "/" };
        let place = format!("{scheme}://{name}{slash}{prefix}");
        let prefix = Path::from(prefix);
        let is_given =
            credentials(service).iter().any(|variable| std::env::var_os(variable).is_some());
        let settings = StoresError::Settings(service);
        let objects = |retry| build(service, name, retry).map_err(|_| settings);

        let runtime = Runtime::new().map_err(|error| StoresError::Runtime(error.kind()))?;
        // A bucket that does not exist must not pass for an empty store.
        let first = Self { objects: objects(RETRY_AT_OPENING)?, runtime, prefix, place };
        match first.runtime.wait(SHORT, first.look()) {
            Ok(Ok(())) => {}
            Ok(Err(cause)) => {
                return Err(match cause {
                    Cause::NoBucket | Cause::NoObject => StoresError::NoBucket(service),
                    Cause::OtherRegion => StoresError::OtherRegion,
                    Cause::Refused => StoresError::Refused(service),
                    _ if !is_given => StoresError::NoCredentials(service),
                    cause => StoresError::Service { service, kind: cause.kind() },
                });
            }
            Err(error) => return Err(StoresError::Service { service, kind: error.kind() }),
        }
        Ok(Self { objects: objects(RETRY)?, ..first })
    }

    /// Whether the bucket can be listed, or the cause why not.
    async fn look(&self) -> io::Result<Result<(), Cause>> {
        let looked = self.objects.list_with_delimiter(Some(&self.prefix)).await;
        Ok(looked.map(drop).map_err(|error| Cause::of(&error)))
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.prefix.clone(), |path, part| path.join(part))
    }
}

/// How long a request that moves this many bytes may take.
fn limit(bytes: u64) -> Duration {
    SHORT + Duration::from_secs(bytes / SLOWEST_BYTES_PER_SECOND)
}

/// The bucket `name`, with the environment's settings for the service.
fn build(
    service: Service,
    name: &str,
    retry: Duration,
) -> Result<Arc<dyn ObjectStore>, object_store::Error> {
    let backoff = BackoffConfig { max_backoff: BACKOFF_MAX, ..BackoffConfig::default() };
    let retry = RetryConfig { backoff, max_retries: RETRIES_MAX, retry_timeout: retry };
    Ok(match service {
        Service::S3 => {
            let builder = AmazonS3Builder::from_env().with_bucket_name(name).with_retry(retry);
            let limit = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
            Arc::new(builder.with_config(limit, LIBRARY_LIMIT).build()?)
        }
        Service::Google => {
            let builder =
                GoogleCloudStorageBuilder::from_env().with_bucket_name(name).with_retry(retry);
            let limit = GoogleConfigKey::Client(ClientConfigKey::Timeout);
            Arc::new(builder.with_config(limit, LIBRARY_LIMIT).build()?)
        }
        Service::Azure => {
            let builder =
                MicrosoftAzureBuilder::from_env().with_container_name(name).with_retry(retry);
            let limit = AzureConfigKey::Client(ClientConfigKey::Timeout);
            Arc::new(builder.with_config(limit, LIBRARY_LIMIT).build()?)
        }
    })
}

fn failed(error: &object_store::Error) -> io::Error {
    Cause::of(error).kind().into()
}

impl Store for Bucket {
    fn put_if_absent(&self, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let payload = PutPayload::from(bytes.to_vec());
        let path = self.path(name);
        self.runtime.wait(limit(bytes.len() as u64), async {
            let mut again = AGAIN.0;
            loop {
                let put = self.objects.put_opts(&path, payload.clone(), PutMode::Create.into());
                match put.await.map_err(|error| Cause::of(&error)) {
                    Ok(_) => return Ok(true),
                    Err(Cause::Exists) => return Ok(false),
                    Err(Cause::Again) if again > 0 => again -= 1,
                    Err(cause) => return Err(cause.kind().into()),
                }
                tokio::time::sleep(AGAIN.1).await;
            }
        })
    }

    fn get(&self, name: &str, lengths: Lengths) -> io::Result<Option<Vec<u8>>> {
        let path = self.path(name);
        let object = self.runtime.wait(limit(0), async {
            match self.objects.get(&path).await {
                Err(error) if Cause::of(&error) == Cause::NoObject => Ok(None),
                object => object.map(Some).map_err(|error| failed(&error)),
            }
        })?;
        let Some(object) = object else { return Ok(None) };
        // The body has not been fetched yet.
        lengths.check(name, object.meta.size)?;
        self.runtime.wait(limit(object.meta.size), async {
            let bytes = object.bytes().await.map_err(|error| failed(&error))?;
            Ok(Some(bytes.into()))
        })
    }

    fn list(&self, folder: &str) -> io::Result<Vec<Listed>> {
        let path = self.path(folder);
        let listed = self.runtime.wait(limit(0), async {
            self.objects.list_with_delimiter(Some(&path)).await.map_err(|error| failed(&error))
        })?;
        let objects = listed.objects.into_iter().filter_map(|object| {
            let name = object.location.filename().filter(|name| !name.starts_with('.'))?;
            let written = Some(object.last_modified.into());
            Some(Listed { name: name.to_owned(), bytes: object.size, written })
        });
        Ok(objects.collect())
    }

    fn folders(&self) -> io::Result<Vec<String>> {
        let listed = self.runtime.wait(limit(0), async {
            let listed = self.objects.list_with_delimiter(Some(&self.prefix)).await;
            listed.map_err(|error| failed(&error))
        })?;
        let names = listed.common_prefixes.iter().filter_map(|folder| folder.filename());
        Ok(names.filter(|name| !name.starts_with('.')).map(str::to_owned).collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.path(name);
        self.runtime.wait(limit(0), async {
            match self.objects.delete(&path).await {
                Err(error) if Cause::of(&error) != Cause::NoObject => Err(failed(&error)),
                _ => Ok(()),
            }
        })
    }

    fn place(&self) -> String {
        self.place.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;
    use vesica_store_session::{ActualKind, NotAnObject};

    fn in_memory(prefix: &str) -> Bucket {
        let (runtime, place) = (Runtime::new().unwrap(), "memory".to_owned());
        Bucket { objects: Arc::new(InMemory::new()), runtime, prefix: Path::from(prefix), place }
    }

    #[test]
    fn an_object_is_written_once_and_read_whole() {
        for prefix in ["", "a", "a/b"] {
            let store = in_memory(prefix);
            assert_eq!(store.get("run/a", Lengths::ANY).unwrap(), None);
            assert!(store.put_if_absent("run/a", b"one").unwrap());
            assert!(!store.put_if_absent("run/a", b"two").unwrap());
            assert_eq!(store.get("run/a", Lengths::ANY).unwrap().unwrap(), b"one");
            let listed = store.list("run").unwrap();
            assert_eq!((&*listed[0].name, listed[0].bytes, listed.len()), ("a", 3, 1));
            assert!(listed[0].written.unwrap().elapsed().unwrap().as_secs() < 100);
            assert_eq!(store.folders().unwrap(), ["run"]);
            store.remove("run/a").unwrap();
            store.remove("run/a").unwrap();
            assert_eq!(store.folders().unwrap(), [""; 0]);
            assert_eq!(store.list("run").unwrap(), []);
        }
    }

    #[test]
    fn an_object_of_another_length_is_not_read() {
        let store = in_memory("a");
        assert!(store.put_if_absent("run/a", b"one").unwrap());
        let error = store.get("run/a", Lengths::exactly(4)).unwrap_err();
        let is = ActualKind::Length { bytes: 3 };
        assert_eq!(NotAnObject::of(&error), Some(NotAnObject::new("run/a", is)));
        assert!(store.get("run/a", Lengths::up_to(2)).is_err());
        assert_eq!(store.get("run/a", Lengths::up_to(3)).unwrap().unwrap(), b"one");
    }

    #[test]
    fn of_many_writers_of_one_name_one_wins() {
        let store = in_memory("a");
        let won = std::thread::scope(|scope| {
            let put = |byte| store.put_if_absent("run/a", &[byte; 9]).unwrap();
            let writers: Vec<_> = (0..8).map(|byte| scope.spawn(move || put(byte))).collect();
            let won: Vec<_> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
            won.into_iter().filter(|won| *won).count()
        });
        assert_eq!(won, 1);
        let read = store.get("run/a", Lengths::ANY).unwrap().unwrap();
        assert!(read.len() == 9 && read.iter().all(|byte| *byte == read[0]));
    }

    #[test]
    fn stores_under_two_prefixes_do_not_meet() {
        let one = in_memory("a");
        let runtime = Runtime::new().unwrap();
        let objects = Arc::clone(&one.objects);
        let two = Bucket { objects, runtime, prefix: Path::from("ab"), place: String::new() };
        assert!(one.put_if_absent("run/x", b"one").unwrap());
        assert_eq!(two.get("run/x", Lengths::ANY).unwrap(), None);
        assert_eq!(two.folders().unwrap(), [""; 0]);
        assert!(two.put_if_absent("run/x", b"two").unwrap());
        assert_eq!(one.get("run/x", Lengths::ANY).unwrap().unwrap(), b"one");
    }

    #[test]
    fn only_objects_of_the_folder_are_listed_and_no_hidden_ones() {
        let store = in_memory("a");
        for name in ["run/b", "run/.hidden", "run2/c", ".top/d"] {
            assert!(store.put_if_absent(name, b"").unwrap());
        }
        let names: Vec<_> = store.list("run").unwrap().into_iter().map(|o| o.name).collect();
        assert_eq!(names, ["b"]);
        let mut folders = store.folders().unwrap();
        folders.sort();
        assert_eq!(folders, ["run", "run2"]);
    }
}
