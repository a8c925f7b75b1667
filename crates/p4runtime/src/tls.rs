//! TLS, with client certificates where a CA is given.

use crate::server::ServerError;
use std::path::{Path, PathBuf};
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

/// Files in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate, and those that it is signed by.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Who signs clients' certificates; without it, any client is served.
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
