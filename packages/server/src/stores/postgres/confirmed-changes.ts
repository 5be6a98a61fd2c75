/**
 * Changes of users, keys and settings that all nodes know of. A node uses what it has read until it learns of a
 * change: from a message of the node that made it, from its next heartbeat, or by fencing itself because it
 * has no heartbeat.
 */
import type { Statements } from './database.ts';
import { leaseTimes } from './heartbeat.ts';

export type ConfirmedChanges = {
  /** `confirm` resolves when that node has learned of all changes so far. Without it, others learn by heartbeat. */
  confirmWith(confirm: (node: string) => Promise<unknown>): void;
  /** Resolves when no other node uses what it has read before the last change. */
  known(): Promise<void>;
};

/** `own` is this node. */
export function confirmedChanges(database: Statements, own: string): ConfirmedChanges {
  let confirm: (node: string) => Promise<unknown> = () => Promise.reject(new Error('no messages'));
  return {
    confirmWith(given) {
      confirm = given;
    },
    async known() {
      const began = performance.now();
      const others = await database.query('SELECT id, lease_ms FROM nodes WHERE until > now() AND id <> $1', [
        own,
      ]);
      const learned = others.map(({ id, lease_ms }) =>
        confirm(String(id)).catch(() => {
          const { fenceMs } = leaseTimes(Number(lease_ms));
          return Bun.sleep(Math.max(0, began + fenceMs - performance.now()));
        }),
      );
      await Promise.all(learned);
    },
  };
}
