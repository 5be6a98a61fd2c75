/** Encodes a registry entry as a set member: node, id and value. */
import type { Json } from '@parlance/protocol';
import type { NodeId } from '../../core/ports/lease.ts';
import type { Entry, OwnEntry } from '../../core/ports/transport.ts';

/** The entry of a node that only announces its presence. */
export const BARE: OwnEntry = { id: '', value: null };

export const encodeMember = (node: NodeId, { id, value }: OwnEntry): string =>
  JSON.stringify([node, id, value]);

/** Null if the text is not a valid member. */
export function decodeMember(key: string, member: string): Entry | null {
  try {
    const [node, id, value = null]: unknown[] = JSON.parse(member);
    return typeof node === 'string' && typeof id === 'string'
      ? { key, node, id, value: value as Json }
      : null;
  } catch {
    return null;
  }
}

/** Sent by a node when one of its entries changes. */
export type Announcement =
  | { readonly add: { readonly key: string; readonly id: string; readonly value: Json } }
  | { readonly remove: { readonly key: string; readonly id: string } };

/** Null if it is not a valid announcement. */
export function readAnnouncement(body: unknown): Announcement | null {
  const { add, remove } = (body ?? {}) as Partial<Record<'add' | 'remove', unknown>>;
  const { key, id, value = null } = (add ?? remove ?? {}) as Record<string, unknown>;
  if (typeof key !== 'string' || typeof id !== 'string') return null;
  return add === undefined ? { remove: { key, id } } : { add: { key, id, value: value as Json } };
}
