/** Serves the built files listed in the `manifest.json` of a folder, and no others. Reads them on demand. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isUnchanged, ranged } from './conditional.ts';

const Manifest = z.object({
  files: z.record(z.string(), z.object({ type: z.string(), etag: z.string() })),
  /** hashes of the inline scripts of its pages, for the content security policy */
  scripts: z.array(z.string()).default([]),
});
export type Manifest = z.infer<typeof Manifest>;

export type ServedFile = {
  readonly path: string;
  readonly request: Request;
  /** headers besides type, etag and encoding */
  readonly headers: (manifest: Manifest) => Readonly<Record<string, string>>;
};

/** For all files and pages. */
export const NO_SNIFFING = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Null for files that are not listed, or without a build. */
export function builtFiles(folder: string): (file: ServedFile) => Promise<Response | null> {
  const manifest = manifestIn(folder);
  return async ({ path, request, headers: others }) => {
    const read = await manifest();
    if (!read || !Object.hasOwn(read.files, path)) return null;
    const listed = read.files[path];
    if (!listed) return null;
    const headers = {
      ...others(read),
      'content-type': listed.type,
      etag: listed.etag,
      vary: 'accept-encoding',
    };
    if (isUnchanged(request, listed.etag)) return new Response(null, { status: 304, headers });
    // A range is one of the file itself.
    const gzip =
      !request.headers.has('range') && /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '');
    const packed = Bun.file(join(folder, `${path}.gz`));
    // The file was removed by a concurrent rebuild.
    if (!(await packed.exists())) return null;
    if (gzip) return new Response(packed, { headers: { ...headers, 'content-encoding': 'gzip' } });
    const bytes = Bun.gunzipSync(await packed.bytes());
    return ranged(request, { size: bytes.length, body: (from, to) => bytes.subarray(from, to) }, headers);
  };
}

/**
 * Reloads the manifest when it changes, so that a new build is served without a restart. Null without a
 * build.
 */
function manifestIn(folder: string): () => Promise<Manifest | null> {
  const path = join(folder, 'manifest.json');
  let read: { readonly at: number; readonly manifest: Manifest } | null = null;
  return async () => {
    const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (at === undefined) return null;
    if (read?.at !== at) read = { at, manifest: Manifest.parse(await Bun.file(path).json()) };
    return read.manifest;
  };
}
