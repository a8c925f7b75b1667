//! TLS, with client certificates if a CA is configured.

use crate::server::ServerError;
use std::path::{Path, PathBuf};
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

/// Paths of PEM files.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate, followed by its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The CA that signs clients' certificates. Without it, any client is accepted.
    pub client_ca: Option<PathBuf>,
}

impl TlsFiles {
    /// Reads the files.
    pub(crate) fn load(&self) -> Result<ServerTlsConfig, ServerError> {
        let identity = Identity::from_pem(read(&self.certificate)?, read(&self.key)?);
        let config = ServerTlsConfig::new().identity(identity);
        match &self.client_ca {
            Some(path) => Ok(config.client_ca_root(Certificate::from_pem(read(path)?))),
            None => Ok(config),
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ServerError> {
    std::fs::read(path).map_err(|error| ServerError::File {
        path: path.to_path_buf(),
        error,
    })
}
