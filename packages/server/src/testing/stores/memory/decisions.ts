import type { PrincipalId } from '@parlance/protocol';
import type { FileDecision } from '../../../accounts/store.ts';
import { storable } from '../../../stores/shared/text.ts';

export function memoryDecisions() {
  let rows: FileDecision[] = [];
  const inOrder = () => rows.toSorted((a, b) => a.at - b.at || (a.hash < b.hash ? -1 : 1));
  const is =
    (owner: PrincipalId | null, path: string) =>
    (row: FileDecision): boolean =>
      row.owner === owner && row.path === storable(path);
  return {
    find: (owner: PrincipalId | null, paths: readonly string[]): FileDecision[] =>
      inOrder().filter(
        (row) => (row.owner === null || row.owner === owner) && paths.map(storable).includes(row.path),
      ),
    list: (owner: PrincipalId | null): Omit<FileDecision, 'content'>[] =>
      inOrder()
        .filter((row) => row.owner === owner)
        .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
        .map(({ content: _, ...row }) => row),
    put(given: FileDecision, max: number): void {
      const { owner, path, hash, state } = given;
      const isOf = is(owner, path);
      if (state === 'used') rows = rows.filter((row) => !isOf(row));
      if (state === 'declined')
        rows = rows.filter((row) => !isOf(row) || (row.state === 'used' && row.hash !== hash));
      if (rows.some((row) => isOf(row) && row.hash === hash)) return;
      rows.push({ ...given, path: storable(path), by: storable(given.by) });
      const own = inOrder().filter((row) => row.owner === owner);
      const oldest = own.at(-max)?.at ?? 0;
      rows = rows.filter((row) => row.owner !== owner || row.hash === '' || row.at >= oldest);
    },
    remove(owner: PrincipalId | null, path: string): boolean {
      const count = rows.length;
      rows = rows.filter((row) => !is(owner, path)(row));
      return rows.length < count;
    },
    removeOf(owner: string): void {
      rows = rows.filter((row) => row.owner !== owner);
    },
  };
}
