/**
 * Ties an approval to the files that it was given for. The request has a fingerprint of each file that the call replaces,
 * creates, changes or deletes; a call whose files are others by now is refused.
 */
import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { relative } from 'node:path';
import { type Ask, Fault } from '@parlance/protocol';
import type { ToolContext } from '../core/ports/tool.ts';
import { errorCode } from '../lib/errors.ts';
import type { Entry } from './confined-path.ts';
import { type Bounds, confine } from './paths.ts';

export type Subject = {
  /** as named by the call */
  readonly path: string;
  /** whether what it contains is lost; of a file that is only changed, the patch has the lines that must be there */
  readonly isLost: boolean;
};

export type Seen = ReadonlySet<string> | null;

const MAX_BYTES = 64 * 1024 * 1024;

/** The fingerprints of an approval request. Paths must be inside of the bounds. */
export async function fingerprintsOf(
  subjects: readonly Subject[],
  bounds: Bounds,
  base?: string,
): Promise<string[]> {
  const prints: string[] = [];
  for (const subject of subjects) {
    const { path } = await confine(bounds, subject.path, base);
    prints.push(await fingerprint(subject, { path, at: path }, bounds));
  }
  return prints;
}

/** Those of the approval that was requested for the call; null if it runs without one. */
export function seenBy(context: Pick<ToolContext, 'eventsSinceIdle' | 'call'>): Seen {
  const prints = askOf(context)?.seen;
  return prints ? new Set(prints) : null;
}

/** The approval request of the call; undefined if it needs none. */
export function askOf({
  eventsSinceIdle,
  call,
}: Pick<ToolContext, 'eventsSinceIdle' | 'call'>): Ask | undefined {
  const requested = eventsSinceIdle.findLast(
    (event) => event.type === 'approval.requested' && event.call === call,
  );
  return requested?.type === 'approval.requested' ? requested.ask : undefined;
}

/** Throws a `Fault` if the file, or what a link on the way leads to, has changed since the approval was requested. */
export async function mustBeSeen(
  seen: Seen,
  subject: Subject,
  { entry, bounds }: { readonly entry: Pick<Entry, 'path' | 'at'>; readonly bounds: Bounds },
): Promise<void> {
  if (seen && !seen.has(await fingerprint(subject, entry, bounds)))
    throw new Fault(
      'tool_failed',
      `${subject.path} has changed since the approval was requested; nothing was written to it. Read it again.`,
    );
}

async function fingerprint(
  { path, isLost }: Subject,
  found: Pick<Entry, 'path' | 'at'>,
  { root }: Bounds,
): Promise<string> {
  const place = relative(await realpath(root), found.path);
  return sha256(JSON.stringify([path, place, isLost ? await contentOf(found.at) : null]));
}

export const sha256 = (content: string | Uint8Array): string =>
  new Bun.CryptoHasher('sha256').update(content).digest('hex');

/** A hash of the file. For one that is too large, or has several names, a stamp that every write changes. */
export async function contentOf(at: string): Promise<string> {
  try {
    await using file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = await file.stat({ bigint: true });
    const { size, nlink, ino, ctimeNs } = found;
    if (nlink > 1n || size > MAX_BYTES) return `${ino}:${ctimeNs}:${size}`;
    return found.isFile() ? sha256(await file.readFile()) : 'not a file';
  } catch (thrown) {
    const code = errorCode(thrown);
    if (code === undefined) throw thrown;
    return code;
  }
}
