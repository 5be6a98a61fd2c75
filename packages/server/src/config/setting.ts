/** One setting: its names, default and schema. */
import type { z } from 'zod';

export type Setting = {
  /** the first variable that is set and not empty is used */
  readonly env: readonly string[];
  /** none for secrets: a command line can be read by other users of the machine */
  readonly flag?: string;
  /** another name that is accepted, but not shown */
  readonly formerFlag?: string;
  /** placeholder after the flag in the help */
  readonly argument?: string;
  /** parsed by the schema like any other value; absent if the setting may stay unset */
  readonly fallback?: unknown;
  /** shown as the default in the help, if the fallback is not descriptive */
  readonly fallbackText?: string;
  /** a function: each schema is used once at startup and can be collected afterwards */
  readonly schema: () => z.ZodType;
  readonly repeatable?: boolean;
  /** the value is never shown, not even in an error */
  readonly secret?: boolean;
  readonly description: string;
};
