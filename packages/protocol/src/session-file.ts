/** Sessions as JSON lines: a header, then one line per event. A file may contain several sessions. */
import { z } from 'zod';
import { PrincipalId, SessionId } from './ids.ts';
import { eventVersion, unknownVersion } from './upcast.ts';

export const SESSION_FORMAT = 'parlance.session';
export const SESSION_FORMAT_VERSION = 2;

/** The first line of a session. */
export const SessionHeader = z.object({
  format: z.literal(SESSION_FORMAT),
  version: z.literal(SESSION_FORMAT_VERSION),
  session: z.object({ owner: PrincipalId, id: SessionId }),
  /** schema version of the events */
  eventVersion: z.number().int().positive(),
  /** number of event lines that follow */
  events: z.number().int().positive(),
});
export type SessionHeader = z.infer<typeof SessionHeader>;

const Versions = z.object({ version: z.number(), eventVersion: z.number().default(1) });

/** Reads a header of any version up to the current one. Throws if the file is newer or not a header. */
export function parseHeader(value: Readonly<Record<string, unknown>>): SessionHeader {
  const { version, eventVersion: events } = Versions.parse(value);
  if (version > SESSION_FORMAT_VERSION)
    throw new Error(`the file ${unknownVersion(version, SESSION_FORMAT_VERSION)}`);
  if (events > eventVersion()) throw new Error(`the session ${unknownVersion(events, eventVersion())}`);
  return SessionHeader.parse(version === 1 ? fromVersion1(value) : value);
}

const fromVersion1 = ({ facts, ...header }: Readonly<Record<string, unknown>>) => ({
  ...header,
  version: 2,
  eventVersion: 1,
  events: facts,
});
