/** The images that the Dockerfile, compose.yaml and the Kubernetes manifests start from. */

/** `FROM` and `image:` with a tag, and perhaps a digest. A stage has no tag. */
const IMAGE = /^(\s*(?:FROM|image:)\s+)([\w./-]+:[\w.-]+)(@\S+)?(?=\s|$)/gm;

/** Built here, so that it has no digest before. */
const OWN = /^parlance:/;

export const IMAGE_FILES = ['Dockerfile', 'compose.yaml', 'docs/guides/cluster/valkey.yaml'] as const;

export type UsedImage = { readonly name: string; readonly digest: string | null };

export const imagesIn = (text: string): UsedImage[] =>
  [...text.matchAll(IMAGE)]
    .map(([, , name = '', digest]) => ({ name, digest: digest?.slice(1) ?? null }))
    .filter(({ name }) => !OWN.test(name));

export const isDigest = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text);

/** With the given digests; images that are not among them stay as they are. */
export const pinned = (text: string, digests: ReadonlyMap<string, string>): string =>
  text.replace(IMAGE, (line, before: string, name: string) =>
    digests.has(name) ? `${before}${name}@${digests.get(name)}` : line,
  );

/** With `isStrict`, an image without a digest is a problem, too. */
export function imageProblems(images: readonly UsedImage[], { isStrict = false } = {}): string[] {
  const first = new Map<string, string | null>();
  return images.flatMap(({ name, digest }) => {
    if (digest !== null && !isDigest(digest)) return [`${name} has a digest that is none: ${digest}`];
    if (digest === null && isStrict) return [`${name} has no digest: npm run images:pin adds it`];
    const other = first.get(name) ?? digest;
    first.set(name, other);
    return other === digest ? [] : [`${name} has different digests`];
  });
}
