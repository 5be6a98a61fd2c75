/** Explains a command or a patch. The text contains an argv as JSON, a patch, or a command line. */
import { explainCommand, explainScript } from './command.ts';
import { explainPatch } from './patch.ts';

const LONGEST_SCRIPT = 20_000;

export function explain(text: string): string {
  const command = argvIn(text);
  if (command?.[0] === 'apply_patch') return explainPatch(command[1] ?? '');
  const holdsPatch =
    command?.find((word) => word.includes('*** Begin Patch')) ?? (command ? undefined : text);
  if (holdsPatch?.includes('*** Begin Patch')) return explainPatch(holdsPatch);
  if (command) return explainCommand(command);
  const script = text.trim().slice(0, LONGEST_SCRIPT);
  return script === '' ? 'There is nothing to explain.' : explainScript(script);
}

/** Text around the array is ignored. */
function argvIn(text: string): string[] | null {
  const start = text.indexOf('[');
  const end = text.lastIndexOf(']');
  if (start === -1 || end < start) return null;
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1));
    return Array.isArray(value) && value.every((word) => typeof word === 'string') ? value : null;
  } catch {
    return null; // not JSON: brackets of a command line or a patch
  }
}
