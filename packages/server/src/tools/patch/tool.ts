/** Changes files with a patch. */

import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ask, Fault, textPart, visibleLine } from '@parlance/protocol';
import { type Change, contextReading, PatchError, parsePatch, pathsOf } from '@parlance/protocol/patch';
import { z } from 'zod';
import {
  defineTool,
  type RuleSubjects,
  type Tool,
  type ToolContext,
  type ToolResult,
} from '../../core/ports/tool.ts';
import { seconds } from '../duration.ts';
import { changesGitFolder } from '../git-folder.ts';
import type { Guard } from '../guard.ts';
import { type Bounds, type ConfinedPath, confine, inFolder } from '../paths.ts';
import { askOf, fingerprintsOf, seenBy } from '../seen.ts';
import { applyPatch, fits, replacedBy, subjectsOf } from './apply.ts';
import { previewOf } from './preview.ts';

const Input = z.object({
  patch: z
    .string()
    .min(1)
    .max(5_000_000)
    .describe('The patch, from "*** Begin Patch" to "*** End Patch". Paths are relative.'),
});

export const applyPatchTool = (guard: Guard): Tool =>
  defineTool({
    name: 'apply_patch',
    exclusive: 'always',
    description:
      'Adds, updates, moves and deletes files with a patch: *** Add File, *** Delete File, *** Update File with hunks of context, - and + lines.',
    input: Input,
    asks: true,
    subjects: ({ patch }, folder) => patchSubjects(patch, folder),
    changes: ({ patch }) => patchedPaths(patch) ?? undefined,
    approval: ({ patch }, { root }) => askToPatch(patch, { root, ...guard }, root),
    run: ({ patch }, context) =>
      runPatch(patch, { bounds: { root: context.root, ...guard }, base: context.root }, context),
  });

/** A patch is judged by the files it changes; `workdir` is where it is applied. */
export function patchSubjects(patch: string, folder: string, workdir = ''): RuleSubjects {
  const paths = patchedPaths(patch);
  if (!paths) return { literal: null };
  return {
    literal: paths.map((path) => inFolder(folder, path)),
    normalised: paths.flatMap((path) => [join(workdir, path), join(folder, workdir, path)]),
  };
}

/** The files a patch touches; null if the text is not a patch. */
export function patchedPaths(patch: string): string[] | null {
  const changes = readable(patch);
  return changes && pathsOf(changes);
}

/** Null if the text is not a patch: running it changes nothing and returns the reason to the model. */
export async function askToPatch(patch: string, bounds: Bounds, base: string): Promise<Ask | null> {
  const changes = readable(patch);
  if (!changes) return null;
  const command = ['apply_patch', patch];
  const places = await findAll(pathsOf(changes), bounds, base);
  if (!places) {
    const description = `${describe(changes, [])} A path leaves the working folder.`;
    return { kind: 'other', command, patch, description };
  }
  const replaces = await replacedBy(changes, bounds, base);
  const description = describe(changes, replaces);
  const files = await previewOf(changes, bounds, base);
  const shown = {
    command,
    patch,
    seen: await fingerprintsOf(subjectsOf(changes), bounds, base),
    ...(replaces.length === 0 ? {} : { replaces }),
    ...(files.length === 0 ? {} : { files }),
  };
  // git runs programs named in its own folder: such a patch is more than an edit.
  if (await anyReserved(places, await realpath(bounds.root))) {
    return {
      kind: 'other',
      ...shown,
      description: `${description} This changes git's own folder, or Parlance's.`,
    };
  }
  return { kind: 'edit', ...shown, description, grant: 'apply_patch' };
}

export async function runPatch(
  patch: string,
  { bounds, base }: { readonly bounds: Bounds; readonly base: string },
  context: Pick<ToolContext, 'signal' | 'eventsSinceIdle' | 'call' | 'permission'>,
): Promise<ToolResult> {
  const started = performance.now();
  const narrow = contextReading(patch);
  const changes = narrow && (await fits(narrow, bounds, base)) ? narrow : parsed(patch, rejected);
  const ask = askOf(context);
  const files = ask ? [] : await previewOf(changes, bounds, base);
  const { signal } = context;
  const approved = context.permission === 'approved';
  const mayReplace = replaceable(ask);
  const { done, failure } = await applyPatch(changes, {
    ...{ bounds, base, signal, approved, mayReplace },
    seen: seenBy(context),
  });
  const output =
    failure === undefined
      ? `Applied:\n${done.join('\n')}`
      : `The patch stopped: ${failure}\n${done.length === 0 ? 'Nothing was applied.' : `Applied before that:\n${done.join('\n')}`}`;
  const failed = failure !== undefined;
  return {
    parts: [textPart(output)],
    data: {
      output,
      exit_code: failed ? 1 : 0,
      duration_seconds: seconds(performance.now() - started),
      // An approval has shown them already.
      ...(files.length === 0 ? {} : { files }),
    },
    failed,
  };
}

/** An approved call may replace only files shown in its approval; a call without approval may replace any. */
function replaceable(ask: Ask | undefined): (path: string) => boolean {
  if (!ask) return () => true;
  return (path) => ask.replaces?.includes(visibleLine(path)) ?? false;
}

function parsed<Otherwise>(
  patch: string,
  otherwise: (problem: PatchError) => Otherwise,
): Change[] | Otherwise {
  try {
    return parsePatch(patch);
  } catch (thrown) {
    if (thrown instanceof PatchError) return otherwise(thrown);
    throw thrown;
  }
}

const readable = (patch: string): Change[] | null => parsed(patch, () => null);

function rejected({ message }: PatchError): never {
  throw new Fault('tool_invalid', message);
}

async function findAll(
  paths: readonly string[],
  bounds: Bounds,
  base: string,
): Promise<ConfinedPath[] | null> {
  try {
    return await Promise.all(paths.map((path) => confine(bounds, path, base)));
  } catch (thrown) {
    if (thrown instanceof Fault) return null;
    throw thrown;
  }
}

async function anyReserved(places: readonly ConfinedPath[], root: string): Promise<boolean> {
  for (const { path, entry, name } of places)
    for (const candidate of [path, entry, join(root, name)])
      if (await changesGitFolder(root, candidate)) return true;
  return false;
}

function describe(changes: readonly Change[], replaces: readonly string[]): string {
  const summary = listed(changes.map((change) => changeWords(change, replaces)));
  if (replaces.length === 0) return `A patch that ${summary}.`;
  const files = replaces.length === 1 ? 'file' : 'files';
  return `A patch that ${summary}. It replaces the existing ${files} ${listed(replaces)}.`;
}

const LISTED = 5;

const listed = (words: readonly string[]): string =>
  words.slice(0, LISTED).join(', ') + (words.length > LISTED ? ` and ${words.length - LISTED} more` : '');

function changeWords(change: Change, replaces: readonly string[]): string {
  switch (change.kind) {
    case 'add':
      return `${replaces.includes(change.path) ? 'writes' : 'adds'} ${change.path}`;
    case 'delete':
      return `deletes ${change.path}`;
    case 'update':
      return change.moveTo === undefined
        ? `changes ${change.path}`
        : `moves ${change.path} to ${change.moveTo}`;
  }
}
