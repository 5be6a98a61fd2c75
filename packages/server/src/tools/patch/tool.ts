/** Changes files by a patch. */
import { type Ask, Fault, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { defineTool, type Tool, type ToolResult } from '../../core/ports/tool.ts';
import { seconds } from '../duration.ts';
import { type Bounds, confine, isConfiguration, type Place } from '../paths.ts';
import { applyPatch } from './apply.ts';
import { type Change, parsePatch, pathsOf } from './parse.ts';

const Input = z.object({
  patch: z
    .string()
    .min(1)
    .max(5_000_000)
    .describe('The patch, from "*** Begin Patch" to "*** End Patch". Paths are relative.'),
});

export const applyPatchTool = (hide: readonly string[]): Tool =>
  defineTool({
    name: 'apply_patch',
    description:
      'Adds, updates, moves and deletes files by a patch: *** Add File, *** Delete File, *** Update File with hunks of context, - and + lines.',
    input: Input,
    asks: true,
    subjects: ({ patch }) => patchedPaths(patch),
    approval: ({ patch }, { root }) => askToPatch(patch, { root, hide }, root),
    run: ({ patch }, { root, signal }) => runPatch(patch, { root, hide }, root, signal),
  });

/** Null for a text that is no patch: running it changes nothing and tells the model why. */
/** The files a patch touches; null where it is none. */
export function patchedPaths(patch: string): string[] | null {
  try {
    return pathsOf(parsePatch(patch));
  } catch (thrown) {
    if (thrown instanceof Fault) return null;
    throw thrown;
  }
}

export async function askToPatch(patch: string, bounds: Bounds, base: string): Promise<Ask | null> {
  const changes = readable(patch);
  if (!changes) return null;
  const command = ['apply_patch', patch];
  const description = describe(changes);
  const places = await findAll(pathsOf(changes), bounds, base);
  if (!places) {
    return { kind: 'other', command, patch, description: `${description} A path leaves the working folder.` };
  }
  // What git finds in its own folder it runs: such a patch is more than an edit.
  if (places.some((place) => isConfiguration(place.path) || isConfiguration(place.name))) {
    return { kind: 'other', command, patch, description: `${description} This changes git's own folder.` };
  }
  return { kind: 'edit', command, patch, description, grant: 'apply_patch' };
}

export async function runPatch(
  patch: string,
  bounds: Bounds,
  base: string,
  signal: AbortSignal,
): Promise<ToolResult> {
  const started = performance.now();
  const { done, failure } = await applyPatch(parsePatch(patch), bounds, base, signal);
  const output =
    failure === undefined
      ? `Applied:\n${done.join('\n')}`
      : `The patch stopped: ${failure}\n${done.length === 0 ? 'Nothing was applied.' : `Applied before that:\n${done.join('\n')}`}`;
  const failed = failure !== undefined;
  return {
    parts: [textPart(output)],
    data: { output, exit_code: failed ? 1 : 0, duration_seconds: seconds(performance.now() - started) },
    failed,
  };
}

function readable(patch: string): Change[] | null {
  try {
    return parsePatch(patch);
  } catch (thrown) {
    return noneFor(thrown);
  }
}

async function findAll(paths: readonly string[], bounds: Bounds, base: string): Promise<Place[] | null> {
  try {
    return await Promise.all(paths.map((path) => confine(bounds, path, base)));
  } catch (thrown) {
    return noneFor(thrown);
  }
}

/** A fault is an answer here; anything else is a bug and goes on. */
function noneFor(thrown: unknown): null {
  if (thrown instanceof Fault) return null;
  throw thrown;
}

function describe(changes: readonly Change[]): string {
  const verbs = { add: 'adds', update: 'changes', delete: 'deletes' };
  const said = changes.slice(0, 5).map((change) => `${verbs[change.kind]} ${change.path}`);
  const more = changes.length > 5 ? ` and ${changes.length - 5} more` : '';
  return `A patch that ${said.join(', ')}${more}.`;
}
