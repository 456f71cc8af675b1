//! Tables as Parquet.

use super::{Kind, Table, Values, word};
use crate::output::parquet::{doubles, field, integers, plain, schema, texts};
use parquet::basic::{ConvertedType, Type};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows in a group, at least, but for the last one.
const GROUP: u64 = 1 << 16;

pub fn write(out: impl Write + Send, table: &dyn Table) -> io::Result<()> {
    let columns = table.columns();
    let fields = columns.iter().map(|c| match c.kind {
        Kind::Number => field(&c.name, Type::DOUBLE, ConvertedType::NONE),
        Kind::Integer => field(&c.name, Type::INT64, ConvertedType::NONE),
        Kind::Word(_) | Kind::Remark(_) => field(&c.name, Type::BYTE_ARRAY, ConvertedType::UTF8),
    });
    let properties = WriterProperties::builder().set_created_by(concat!("saltus ", env!("CARGO_PKG_VERSION")).into());
    let fields = fields.collect::<Result<Vec<_>, _>>().map_err(plain)?;
    let schema = schema(fields).map_err(plain)?;
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties.build())).map_err(plain)?;
    let mut first = 0;
    while first < table.chunks().len() {
        let mut rows = 0;
        let last = (first..table.chunks().len())
            .find(|&k| {
                rows += table.chunks()[k];
                rows >= GROUP
            })
            .unwrap_or(table.chunks().len() - 1);
        let mut group = file.next_row_group().map_err(plain)?;
        for (c, column) in columns.iter().enumerate() {
            let (mut numbers, mut whole) = (Vec::new(), Vec::new());
            for chunk in first..=last {
                match table.read(chunk, c)? {
                    Values::Numbers(x) => numbers.extend(x),
                    Values::Integers(x) => whole.extend(x),
                }
            }
            let done: Result<(), ParquetError> = match &column.kind {
                Kind::Number => doubles(&mut group, &numbers),
                Kind::Integer => integers(&mut group, &whole),
                Kind::Word(words) | Kind::Remark(words) => {
                    texts(&mut group, &whole.iter().map(|&k| ByteArray::from(word(words, k))).collect::<Vec<_>>())
                }
            };
            done.map_err(plain)?;
        }
        group.close().map_err(plain)?;
        first = last + 1;
    }
    file.close().map(|_| ()).map_err(plain)
}
