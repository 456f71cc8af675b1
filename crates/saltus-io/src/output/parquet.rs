//! `trajectory.parquet` and `impacts.parquet`: columns for pandas, Polars, DuckDB and the like; metadata as key-value pairs.

use super::arrays::Array;
use super::meta::Value;
use parquet::basic::{ConvertedType, Repetition, Type as Kind};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use saltus::{Ledger, Model, Trajectory};
use std::io::{self, Write};
use std::sync::Arc;

/// Rows in a group: a few megabytes for a system of ten coordinates.
const GROUP: usize = 1 << 16;

type Meta<'a> = &'a [(&'static str, Value)];

/// One row a stored instant, one column a number, named as in `trajectory.csv`.
pub fn trajectory(out: impl Write + Send, model: &Model, arrays: &[Array], meta: Meta) -> io::Result<()> {
    let names = arrays.iter().flat_map(|a| a.column_names(model));
    let fields = names.map(|name| field(&name, Kind::DOUBLE, ConvertedType::NONE)).collect::<Result<Vec<_>, _>>();
    let rows = arrays.first().map_or(0, |a| a.rows);
    let write = |fields| -> Result<(), ParquetError> {
        let mut file = SerializedFileWriter::new(out, schema(fields)?, properties(model, meta))?;
        for from in (0..rows).step_by(GROUP) {
            let to = (from + GROUP).min(rows);
            let mut group = file.next_row_group()?;
            for array in arrays {
                let block = array.block(from, to);
                for i in 0..array.width {
                    let values: Vec<f64> = block.iter().skip(i).step_by(array.width).copied().collect();
                    doubles(&mut group, &values)?;
                }
            }
            group.close()?;
        }
        file.close().map(|_| ())
    };
    fields.and_then(write).map_err(plain)
}

/// One row for each constraint that acts in an impact, the columns of `impacts.csv`.
pub fn impacts(
    out: impl Write + Send,
    model: &Model,
    trajectory: &Trajectory,
    ledger: &Ledger,
    meta: Meta,
) -> io::Result<()> {
    let rows: Vec<(usize, usize)> = trajectory
        .impacts
        .iter()
        .enumerate()
        .flat_map(|(k, i)| (0..i.constraints.len().min(i.impulses.len())).map(move |at| (k, at)))
        .filter(|&(k, _)| k < ledger.impacts.len())
        .collect();
    let (state, all) = (super::tables::impact_state(model), &trajectory.impacts);
    let write = || -> Result<(), ParquetError> {
        let mut fields = vec![
            field("impact", Kind::INT64, ConvertedType::NONE)?,
            field("t", Kind::DOUBLE, ConvertedType::NONE)?,
            field("constraint", Kind::BYTE_ARRAY, ConvertedType::UTF8)?,
        ];
        for name in super::tables::IMPACT_NUMBERS {
            fields.push(field(name, Kind::DOUBLE, ConvertedType::NONE)?);
        }
        for name in &state {
            fields.push(field(name, Kind::DOUBLE, ConvertedType::NONE)?);
        }
        let mut file = SerializedFileWriter::new(out, schema(fields)?, properties(model, meta))?;
        for rows in rows.chunks(GROUP) {
            let mut group = file.next_row_group()?;
            let numbers: Vec<i64> = rows.iter().map(|&(k, _)| k as i64 + 1).collect();
            integers(&mut group, &numbers)?;
            doubles(&mut group, &rows.iter().map(|&(k, _)| all.get(k).t).collect::<Vec<_>>())?;
            let name = |&(k, at): &(usize, usize)| model.constraints[all.get(k).constraints[at]].name.as_str();
            texts(&mut group, &rows.iter().map(|r| ByteArray::from(name(r))).collect::<Vec<_>>())?;
            for i in 0..super::tables::IMPACT_NUMBERS.len() {
                let number =
                    |&(k, at): &(usize, usize)| super::tables::impact_numbers(&all.get(k), at, &ledger.impacts[k])[i];
                doubles(&mut group, &rows.iter().map(number).collect::<Vec<_>>())?;
            }
            let mut block = vec![0.0; rows.len() * state.len()];
            for (&(k, _), values) in rows.iter().zip(block.chunks_exact_mut(state.len().max(1))) {
                super::tables::impact_state_values(model, &all.get(k), values);
            }
            for i in 0..state.len() {
                let column: Vec<f64> = block.iter().skip(i).step_by(state.len()).copied().collect();
                doubles(&mut group, &column)?;
            }
            group.close()?;
        }
        file.close().map(|_| ())
    };
    write().map_err(plain)
}

pub fn field(name: &str, kind: Kind, converted: ConvertedType) -> Result<Arc<Type>, ParquetError> {
    let builder = Type::primitive_type_builder(name, kind);
    builder.with_repetition(Repetition::REQUIRED).with_converted_type(converted).build().map(Arc::new)
}

pub fn schema(fields: Vec<Arc<Type>>) -> Result<Arc<Type>, ParquetError> {
    Type::group_type_builder("saltus").with_fields(fields).build().map(Arc::new)
}

fn properties(model: &Model, meta: Meta) -> WriterPropertiesPtr {
    let text = |value: &Value| match value {
        Value::Number(x) => format!("{x:?}"),
        Value::Text(t) => t.clone(),
    };
    let about = meta.iter().map(|(key, value)| ((*key).to_string(), text(value)));
    let units =
        model.coordinates.iter().enumerate().map(|(i, c)| (format!("unit_{c}"), model.units.position(i).to_string()));
    let states = model.states.iter().zip(&model.units.states);
    let states = states.map(|(state, unit)| (format!("unit_{}", state.name), unit.clone()));
    let pairs = about.chain(units.chain(states).filter(|(_, unit)| !unit.is_empty()));
    let pairs = pairs.map(|(key, value)| KeyValue::new(key, value)).collect();
    // A dictionary of numbers that hardly ever repeat is a waste of time.
    let builder = WriterProperties::builder().set_key_value_metadata(Some(pairs)).set_dictionary_enabled(false);
    Arc::new(builder.set_created_by(concat!("saltus ", env!("CARGO_PKG_VERSION")).into()).build())
}

macro_rules! column_writer {
    ($name:ident, $kind:ty, $value:ty) => {
        pub fn $name<W: Write + Send>(
            group: &mut SerializedRowGroupWriter<'_, W>,
            values: &[$value],
        ) -> Result<(), ParquetError> {
            let Some(mut column) = group.next_column()? else { return Ok(()) };
            column.typed::<$kind>().write_batch(values, None, None)?;
            column.close()
        }
    };
}
column_writer!(doubles, DoubleType, f64);
column_writer!(integers, Int64Type, i64);
column_writer!(texts, ByteArrayType, ByteArray);

/// The system's own error where there is one (a full disk), else that of the format.
pub fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(inner) => *inner,
            Err(other) => io::Error::other(other.to_string()),
        },
        other => io::Error::other(other.to_string()),
    }
}
