/** A value of the API with these times as they are stored: in milliseconds since 1970. */
export type InMilliseconds<Value, Key extends keyof Value> = Readonly<
  Omit<Value, Key> & { [Name in Key]: null extends Value[Name] ? number | null : number }
>;
