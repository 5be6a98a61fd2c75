/** Recognises a patch passed to the shell instead of to its own tool. */
import { scriptOf } from './safe.ts';

const HEREDOC = /^\s*apply_patch\s*<<\s*(['"]?)([A-Za-z_]\w*)\1[ \t]*\r?\n/;

/** The patch in `apply_patch <patch>` or `bash -lc "apply_patch <<'EOF' … EOF"`; null for any other command. */
export function patchIn(argv: readonly string[]): string | null {
  const [program, patch] = argv;
  if (program === 'apply_patch') return argv.length === 2 ? (patch ?? null) : null;
  const script = scriptOf(argv);
  const opening = script === null ? null : HEREDOC.exec(script);
  const delimiter = opening?.[2];
  if (script === null || !opening || delimiter === undefined) return null;
  const lines = script.slice(opening[0].length).split('\n');
  const end = lines.findIndex((line) => line.trimEnd() === delimiter);
  // Anything after the patch would run as well, so it is a script and not a patch.
  if (end < 0 || lines.slice(end + 1).some((line) => line.trim() !== '')) return null;
  return lines.slice(0, end).join('\n');
}
