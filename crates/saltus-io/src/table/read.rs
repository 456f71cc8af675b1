//! Reading back a table that was written as a NumPy archive.

use npyz::NpyFile;
use saltus::SetupError;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// A table in a NumPy archive; columns are read when they are asked for.
#[derive(Clone, Debug)]
pub struct SavedTable {
    path: PathBuf,
    names: Vec<String>,
}

impl SavedTable {
    /// Opens a table.
    pub fn open(path: &Path) -> Result<Self, SetupError> {
        let archive = archive(path)?;
        let named = |n: Cow<str>| n.strip_suffix(".npy").map(str::to_string);
        let names = archive.file_names().filter_map(|n| n.ok().and_then(named)).collect();
        Ok(SavedTable { path: path.to_path_buf(), names })
    }

    /// The names of its columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether it has a column of that name.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|n| n == name)
    }

    /// A column of numbers, or of whole numbers.
    pub fn numbers(&self, name: &str) -> Result<Vec<f64>, SetupError> {
        let bytes = self.bytes(name)?;
        let wrong = |e: std::io::Error| self.damaged(name, &e.to_string());
        let npy = NpyFile::new(&bytes[..]).map_err(wrong)?;
        if let Ok(data) = npy.data::<f64>() {
            return data.collect::<Result<Vec<f64>, _>>().map_err(wrong);
        }
        let npy = NpyFile::new(&bytes[..]).map_err(wrong)?;
        match npy.data::<i64>() {
            Ok(data) => data.map(|x| x.map(|x| x as f64)).collect::<Result<Vec<f64>, _>>().map_err(wrong),
            Err(_) => Err(SetupError::new(format!("the column `{name}` holds texts, not numbers"))),
        }
    }

    /// A column of texts.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, SetupError> {
        let bytes = self.bytes(name)?;
        let wrong = |e: std::io::Error| self.damaged(name, &e.to_string());
        let npy = NpyFile::new(&bytes[..]).map_err(wrong)?;
        let data = npy.data::<String>().map_err(|_| SetupError::new(format!("the column `{name}` holds no texts")))?;
        data.collect::<Result<Vec<String>, _>>().map_err(wrong)
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, SetupError> {
        let mut archive = archive(&self.path)?;
        let known = self.names.iter().map(String::as_str);
        let mut file = archive
            .by_name(&format!("{name}.npy"))
            .map_err(|_| SetupError::unknown(format!("there is no column `{name}`"), name, known, "the columns are"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| self.damaged(name, &e.to_string()))?;
        Ok(bytes)
    }

    fn damaged(&self, name: &str, why: &str) -> SetupError {
        SetupError::new(format!("the column `{name}` of `{}` cannot be read: {why}", self.path.display()))
    }
}

fn archive(path: &Path) -> Result<zip::ZipArchive<BufReader<File>>, SetupError> {
    let fail = |why: String| SetupError::new(format!("cannot read `{}`: {why}", path.display()));
    let file = File::open(path).map_err(|e| fail(crate::read::reason(&e)))?;
    zip::ZipArchive::new(BufReader::new(file)).map_err(|_| fail("it is not a NumPy archive, or it is damaged".into()))
}
