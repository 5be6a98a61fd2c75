import type { TurnId } from '@parlance/protocol';
import type { SessionRef, Webhook, WebhookProgress } from '../../../core/ports/event-store.ts';
import { storable, storableRef } from '../../../stores/shared/text.ts';

type Row = Webhook & WebhookProgress & { readonly node: string };

export function memoryWebhooks() {
  let rows: Row[] = [];
  const of = (ref: SessionRef, turn?: TurnId, id?: string) => {
    const session = storableRef(ref);
    return (row: Row): boolean =>
      row.ref.owner === session.owner &&
      row.ref.id === session.id &&
      (turn === undefined || row.turn === storable(turn)) &&
      (id === undefined || row.id === storable(id));
  };
  const webhookOf = ({ sent: _, failures: __, due: ___, node: ____, ...webhook }: Row): Webhook => webhook;
  const list = (ref: SessionRef, turn: TurnId, id?: string): Webhook[] =>
    rows
      .filter(of(ref, turn, id))
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
      .map(webhookOf);
  return {
    put(
      given: Webhook & WebhookProgress,
      max: { readonly turn: number; readonly owner: number },
    ): 'stored' | 'too_many' {
      const { ref, turn, id } = given;
      const isOne = of(ref, turn, id);
      const others = rows.filter((row) => of(ref, turn)(row) && !isOne(row)).length;
      const { owner } = storableRef(ref);
      const owned = rows.filter((row) => row.ref.owner === owner && row.due !== null && !isOne(row)).length;
      if (others >= max.turn || owned >= max.owner) return 'too_many';
      const row = {
        ...given,
        ref: storableRef(ref),
        turn: storable(turn) as TurnId,
        id: storable(id),
        node: '',
      };
      rows = [...rows.filter((other) => !isOne(other)), row];
      return 'stored';
    },
    find: (ref: SessionRef, turn: TurnId, id: string): Webhook | null => list(ref, turn, id)[0] ?? null,
    list: (ref: SessionRef, turn: TurnId): Webhook[] => list(ref, turn),
    remove(ref: SessionRef, turn: TurnId, id: string): boolean {
      const before = rows.length;
      rows = rows.filter((row) => !of(ref, turn, id)(row));
      return rows.length < before;
    },
    take(
      node: string,
      {
        alive,
        now,
        limit,
      }: { readonly alive: readonly string[]; readonly now: number; readonly limit: number },
    ): (Webhook & WebhookProgress)[] {
      const isFree = (row: Row) => (row.node === '' ? Number(row.due) <= now : !alive.includes(row.node));
      const taken = rows
        .filter((row) => row.due !== null && isFree(row))
        .sort((a, b) => Number(a.due) - Number(b.due))
        .slice(0, limit);
      rows = rows.map((row) => (taken.includes(row) ? { ...row, node } : row));
      return taken.map(({ node: _, ...row }) => row);
    },
    update(
      node: string,
      { ref, turn, id, createdAt }: Webhook,
      { release, ...progress }: WebhookProgress & { readonly release?: true },
    ): boolean {
      const row = rows.find(of(ref, turn, id));
      if (row?.node !== node || row.createdAt !== createdAt) return false;
      rows = rows.map((other) =>
        other === row ? { ...row, ...progress, node: release ? '' : node } : other,
      );
      return true;
    },
    nextDue(): number | null {
      const due = rows.flatMap((row) => (row.due !== null && row.node === '' ? [row.due] : []));
      return due.length === 0 ? null : Math.min(...due);
    },
    removeOf(ref: SessionRef): void {
      rows = rows.filter((row) => !of(ref)(row));
    },
  };
}
