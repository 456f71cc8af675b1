//! Tables as Parquet.

use super::ahead::in_order;
use super::{Kind, Table, Values};
use crate::output::parquet::{field, plain, schema};
use bytes::Bytes;
use parquet::basic::{ConvertedType, Type};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::record::Field;
use parquet::schema::types::ColumnDescPtr;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Rows in a group, but for the last one. (Not so many chunks: how a table is cut into them depends on how long it took to compute.)
const GROUP: u64 = 1 << 16;

/// The names of the columns of a file and its values, row by row, where all of them are numbers; else what is wrong.
pub fn read_numbers(path: &Path) -> Result<(Vec<String>, Vec<f64>), String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let reader = SerializedFileReader::new(file).map_err(|e| e.to_string())?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.name().to_string()).collect();
    let mut values = Vec::new();
    for (k, row) in reader.get_row_iter(None).map_err(|e| e.to_string())?.enumerate() {
        for (name, field) in row.map_err(|e| e.to_string())?.get_column_iter() {
            values.push(number(field).ok_or_else(|| format!("row {}: `{name}` must be a number, not {field}", k + 1))?);
        }
    }
    Ok((names, values))
}

fn number(field: &Field) -> Option<f64> {
    match *field {
        Field::Double(x) => Some(x),
        Field::Float(x) => Some(f64::from(x)),
        Field::Int(x) => Some(f64::from(x)),
        Field::Short(x) => Some(f64::from(x)),
        Field::Byte(x) => Some(f64::from(x)),
        Field::Long(x) => Some(x as f64),
        Field::UInt(x) => Some(f64::from(x)),
        Field::UShort(x) => Some(f64::from(x)),
        Field::UByte(x) => Some(f64::from(x)),
        Field::ULong(x) => Some(x as f64),
        _ => None,
    }
}

pub fn write(out: impl Write + Send, table: &dyn Table, threads: usize) -> io::Result<()> {
    let columns = table.columns();
    let fields = columns.iter().map(|c| match c.kind {
        Kind::Number => field(&c.name, Type::DOUBLE, ConvertedType::NONE),
        Kind::Integer => field(&c.name, Type::INT64, ConvertedType::NONE),
        Kind::Word(_) | Kind::Remark(_) => field(&c.name, Type::BYTE_ARRAY, ConvertedType::UTF8),
    });
    let properties = WriterProperties::builder().set_created_by(concat!("saltus ", env!("CARGO_PKG_VERSION")).into());
    let properties: WriterPropertiesPtr = Arc::new(properties.build());
    let fields = fields.collect::<Result<Vec<_>, _>>().map_err(plain)?;
    let schema = schema(fields).map_err(plain)?;
    let mut file = SerializedFileWriter::new(out, schema, properties.clone()).map_err(plain)?;
    let kinds: Vec<ColumnDescPtr> = file.schema_descr().columns().to_vec();
    let total: u64 = table.chunks().iter().sum();
    for first in (0..total).step_by(GROUP as usize) {
        let rows = first..(first + GROUP).min(total);
        let mut group = file.next_row_group().map_err(plain)?;
        let encode = |c: usize| encoded(table, c, rows.clone(), (&kinds[c], &properties));
        in_order(threads, columns.len(), encode, |(bytes, about)| group.append_column(&bytes, about).map_err(plain))?;
        group.close().map_err(plain)?;
    }
    file.close().map(|_| ()).map_err(plain)
}

/// A column of some rows, as it is in the file, and what the file says about it.
fn encoded(
    table: &dyn Table,
    c: usize,
    rows: Range<u64>,
    (kind, properties): (&ColumnDescPtr, &WriterPropertiesPtr),
) -> io::Result<(Bytes, ColumnCloseResult)> {
    let (mut numbers, mut whole) = (Vec::new(), Vec::new());
    let mut end = 0;
    for (chunk, &count) in table.chunks().iter().enumerate() {
        let first = end;
        end += count;
        if end <= rows.start || first >= rows.end {
            continue;
        }
        let part = (rows.start.max(first) - first) as usize..(rows.end.min(end) - first) as usize;
        match table.read(chunk, c)? {
            Values::Numbers(x) => numbers.extend_from_slice(&x[part]),
            Values::Integers(x) => whole.extend_from_slice(&x[part]),
        }
    }
    let mut bytes = TrackedWrite::new(Vec::new());
    let pages = Box::new(SerializedPageWriter::new(&mut bytes));
    let mut column = get_column_writer(kind.clone(), properties.clone(), pages);
    let written = match (&mut column, &table.columns()[c].kind) {
        (ColumnWriter::DoubleColumnWriter(column), _) => column.write_batch(&numbers, None, None),
        (ColumnWriter::Int64ColumnWriter(column), _) => column.write_batch(&whole, None, None),
        (ColumnWriter::ByteArrayColumnWriter(column), Kind::Word(words) | Kind::Remark(words)) => {
            let texts: Vec<ByteArray> = words.iter().map(|w| ByteArray::from(w.as_str())).collect();
            let none = ByteArray::from("");
            let text = |k: &i64| usize::try_from(*k).ok().and_then(|k| texts.get(k)).unwrap_or(&none).clone();
            column.write_batch(&whole.iter().map(text).collect::<Vec<_>>(), None, None)
        }
        _ => Err(ParquetError::General("a column has another kind than its values".into())),
    };
    written.map_err(plain)?;
    let about = column.close().map_err(plain)?;
    Ok((bytes.into_inner().map_err(plain)?.into(), about))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    /// Whole numbers, cut into chunks somehow.
    struct Numbers(Vec<Column>, Vec<u64>);

    impl Table for Numbers {
        fn columns(&self) -> &[Column] {
            &self.0
        }

        fn chunks(&self) -> &[u64] {
            &self.1
        }

        fn read(&self, chunk: usize, _: usize) -> io::Result<Values> {
            let first: u64 = self.1[..chunk].iter().sum();
            Ok(Values::Integers((first..first + self.1[chunk]).map(|k| (k * k) as i64).collect()))
        }
    }

    #[test]
    fn bytes_do_not_depend_on_chunks() {
        let written = |chunks: &[u64]| {
            let column = Column { name: "k".into(), kind: Kind::Integer };
            let mut bytes = Vec::new();
            write(&mut bytes, &Numbers(vec![column], chunks.to_vec()), 2).expect("written");
            bytes
        };
        let whole = written(&[200_000]);
        assert_eq!(whole, written(&[1, 65_535, 1, 0, 70_000, 64_463]));
        assert_eq!(whole, written(&[150_000, 50_000]));
    }
}
