/** Client configurations from the guide of the console, and a `PATH` with `parlance` as they expect it. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getJson, type Target } from './server-process.ts';

const PARLANCE = join(import.meta.dir, '../packages/cli/bin/parlance');

type Snippet = { readonly kind: string; readonly title: string; readonly code?: string };
type Dialects = {
  readonly dialects: readonly { readonly name: string; readonly snippets: readonly Snippet[] }[];
};

/** The code of the snippet whose title begins with `client`. */
export async function guideCode({ http, headers }: Target, dialect: string, client: string): Promise<string> {
  const { dialects } = await getJson<Dialects>(`${http}/v1/dialects`, headers);
  const snippets = dialects.find(({ name }) => name === dialect)?.snippets ?? [];
  const { code } = snippets.find(({ title }) => title.startsWith(client)) ?? {};
  if (code === undefined) throw new Error(`the guide has no snippet for ${client}`);
  return code.replaceAll('{{origin}}', http);
}

/** A `PATH` on which `parlance` is this checkout; the link is created in `folder`. */
export function pathWithParlance(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = join(bin, 'parlance');
  writeFileSync(program, `#!/bin/sh\nexec sh '${PARLANCE}' "$@"\n`);
  chmodSync(program, 0o755);
  return `${bin}:${process.env.PATH ?? ''}`;
}
