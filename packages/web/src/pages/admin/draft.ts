/** Input in a form whose stored values others may change meanwhile. Pure. */

export type Entered<Fields> = {
  /** the stored values when the input began */
  readonly base: Fields;
  /** the fields that were changed */
  readonly changed: Partial<Fields>;
};

export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

const keysOf = <Fields extends object>(fields: Fields) => Object.keys(fields) as (keyof Fields)[];

/** Whether a field has another value than when the input began. */
export const isTouched = <Fields extends object>({ base, changed }: Entered<Fields>): boolean =>
  keysOf(changed).some((key) => !isSame(changed[key], base[key]));

/** Fields that were changed keep their input; the others follow what is stored. */
export function mergedEach<Fields extends object>(
  { base, changed }: Entered<Fields>,
  stored: Fields,
): Fields {
  const merged = { ...stored };
  for (const key of keysOf(changed)) {
    const value = changed[key];
    if (value !== undefined && !isSame(value, base[key])) merged[key] = value;
  }
  return merged;
}
