/** "create file notes.txt with hello", "save hello to notes.txt", "replace A with B in notes.txt", "delete file notes.txt". */
import { callPlan, type Intent, type Plan, request, type Step } from '../plan.ts';
import { readable } from '../result.ts';
import { code } from '../text.ts';
import { reading } from './files.ts';
import { contentOf, pathOf } from './paths.ts';

const CREATE = /^create\s+(?:a\s+)?(?:new\s+)?file\s+(?:called\s+)?(\S+?)\s+with(?=[\s:])\s*:?\s*([\s\S]+)$/i;
const SAVE = /^(?:save|write)\s+(.+)\s+to\s+(?:the\s+)?(?:file\s+)?(\S+|"[^"]+"|`[^`]+`)$/i;
const REPLACE = /^replace\s+(.+?)\s+(?:with|by)\s+(.+)\s+in\s+(?:the\s+)?(?:file\s+)?(\S+|"[^"]+"|`[^`]+`)$/i;

const DELETE = /^delete\s+(?:the\s+)?file\s+(\S+|"[^"]+"|`[^`]+`)$/i;

export const edits: Intent = ({ line, text }) => {
  const [, created = '', content = ''] = CREATE.exec(text) ?? [];
  const [, saved = '', target = ''] = SAVE.exec(line) ?? [];
  const [, before = '', after = '', changed = ''] = REPLACE.exec(line) ?? [];
  const [, deleted = ''] = DELETE.exec(line) ?? [];
  const path = pathOf(created) ?? pathOf(target) ?? pathOf(changed) ?? pathOf(deleted);
  if (!path) return null;
  if (created) return creating(path, contentOf(content));
  if (target) return saving(path, contentOf(saved));
  if (deleted) return deleting(path);
  return replacing(path, contentOf(before), contentOf(after));
};

const patchOf = (...lines: readonly string[]): string =>
  ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

function creating(path: string, content: string): Plan {
  const lines = content.replace(/\n$/, '').split(/\r?\n/);
  const patch = patchOf(`*** Add File: ${path}`, ...lines.map((line) => `+${line}`));
  return callPlan(
    `create ${code(path)}`,
    [request('apply_patch', { patch })],
    () => `${code(path)} is written.`,
  );
}

const deleting = (path: string): Plan =>
  callPlan(
    `delete ${code(path)}`,
    [request('apply_patch', { patch: patchOf(`*** Delete File: ${path}`) })],
    () => `${code(path)} is deleted.`,
  );

const saving = (path: string, content: string): Plan =>
  callPlan(
    `save ${code(path)}`,
    [request('save_file', { path, content })],
    () => `${code(path)} is written.`,
  );

function replacing(path: string, before: string, after: string): Plan {
  const edit: Step = {
    title: `replace ${code(before)} with ${code(after)} in ${code(path)}`,
    dependent: true,
    run: (calls) => {
      const last = calls.at(-1);
      const hunks = last ? hunksOf(readable(last), before, after) : [];
      if (hunks.length === 0)
        return { text: `There is no ${code(before)} in ${code(path)}, so I changed nothing.` };
      const patch = patchOf(`*** Update File: ${path}`, ...hunks.flat());
      return {
        calls: [{ options: [request('apply_patch', { patch })], report: () => `${code(path)} is changed.` }],
      };
    },
  };
  const { steps } = callPlan(`read ${code(path)}`, reading(path), () => `I have read ${code(path)}.`);
  const reasoning = `To replace text I have to see it first. I read ${path}, look for the lines that hold it, and then change only those.`;
  return { reasoning, steps: [...steps, edit] };
}

/** One hunk per line: hunks are searched forward, so all equal lines are found. */
const hunksOf = (text: string, before: string, after: string): string[][] =>
  text
    .split(/\r?\n/)
    .filter((line) => line.includes(before))
    .map((line) => ['@@', `-${line}`, `+${line.replaceAll(before, () => after)}`]);
