/** How an endpoint is described. */
import { z } from 'zod';

/** Who may call: `token` always needs one, `caller` only where the server does, `signed` is signed as Pusher signs. */
export type Security = 'nobody' | 'caller' | 'token' | 'signed';

export type Answer = {
  readonly description: string;
  /** absent where there is no body */
  readonly schema?: z.ZodType;
  /** `application/json` unless told */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Answers = Readonly<Record<number, Answer | readonly Answer[]>>;

export type Endpoint = {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** with `{name}` for each part that varies */
  readonly path: string;
  readonly summary: string;
  readonly security: Security;
  /** of the parts that vary; any text, where there is none */
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** `application/json` unless told */
  readonly bodyTypes?: readonly string[];
  readonly answers: Answers;
};

export type Section = {
  readonly tag: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
};

/** The schemas that stand under `components`, by name. */
export const COMPONENTS = z.registry<{ id: string }>();

export function named<Schema extends z.ZodType>(id: string, schema: Schema): Schema {
  COMPONENTS.add(schema, { id });
  return schema;
}
