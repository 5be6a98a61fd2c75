/** Authenticates and validates requests to all endpoints. */
import { Fault, type Principal } from '@parlance/protocol';
import { z } from 'zod';
import type { Authenticator } from '../../http/authenticator.ts';
import { principalOf as principalOrLocal, tokenOf } from '../../http/request-identity.ts';
import { parseBody } from '../kit/json-body.ts';
import { fieldsOf } from './faults.ts';

/** A token is required even in open mode. Throws `unauthenticated` without one. */
export function shownToken(request: Request): string {
  const token = tokenOf(request);
  if (token === null) throw new Fault('unauthenticated', 'A token is required.');
  return token;
}

/** The caller. Throws `unauthenticated` without a valid token. */
export async function principalOf(authenticator: Authenticator, request: Request): Promise<Principal> {
  shownToken(request);
  return principalOrLocal(authenticator, request);
}

/** Throws `invalid` with the fields that do not match. */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw invalid(result.error);
  return result.data;
}

/** The JSON body of the request. Throws `invalid` if it is missing or invalid. */
export async function checkedBody<Schema extends z.ZodType>(
  schema: Schema,
  bytes: Promise<Uint8Array>,
): Promise<z.output<Schema>> {
  const parsed = parseBody(await bytes);
  if ('problem' in parsed) throw unreadable(parsed.problem);
  return checked(schema, parsed.value);
}

const unreadable = (message: string): Fault =>
  invalid(new z.ZodError([{ code: 'custom', path: [], message, input: undefined }]));

function invalid(cause: z.ZodError): Fault {
  const [first] = fieldsOf(cause);
  return new Fault('invalid', `${first?.field}: ${first?.message}`, { cause });
}
