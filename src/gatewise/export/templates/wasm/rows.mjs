import {columns, HAS_NAN, Row} from "./sizes.mjs";

const names = new Set(columns.map(({name}) => name));

/** A row from values by name of the column; what is undefined or null is missing, and other keys are an error. */
export function toRow(record) {
  const unknown = Object.keys(record).filter((key) => !names.has(key));
  if (unknown.length) throw new RangeError(`keys must be names of columns, got ${JSON.stringify(unknown)}`);
  return Row.from(columns, ({name, values, missing = NaN}) => {
    const value = record[name] ?? undefined;
    if (value !== undefined) return values ? values.indexOf(value) : Number(value);
    if (Number.isNaN(missing) && !HAS_NAN) throw new RangeError(`${JSON.stringify(name)} must be given, got nothing`);
    return missing;
  });
}
