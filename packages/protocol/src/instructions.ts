/** In words, which files of the working folder are instructions. Without zod: browsers load it. */
import type { ProjectFile } from './event-fields.ts';
import { visibleLine } from './visible.ts';

const SKILL = /(?:^|\/)([^/]+)\/SKILL\.md$/;

/** One sentence for each outcome. Empty for no files. */
export function instructionsText(files: readonly ProjectFile[]): string {
  const of = (use: ProjectFile['use']) =>
    files.filter((file) => file.use === use).map(({ path }) => visibleLine(SKILL.exec(path)?.[1] ?? path));
  const sentence = (use: ProjectFile['use'], write: (names: string, many: boolean) => string): string[] => {
    const names = of(use);
    if (names.length === 0) return [];
    const shown =
      names.length > MAX_NAMES ? [...names.slice(0, MAX_NAMES), `${names.length - MAX_NAMES} more`] : names;
    return [write(shown.join(', '), names.length > 1)];
  };
  return [
    ...sentence('used', (names) => `Project instructions: ${names}.`),
    ...sentence(
      'new',
      (names, many) =>
        `Not used as instructions, because nobody has accepted ${many ? 'them' : 'it'}: ${names}.`,
    ),
    ...sentence(
      'changed',
      (names) => `Not used as instructions, because of changes since they were accepted: ${names}.`,
    ),
    ...sentence('declined', (names) => `Declined as instructions: ${names}.`),
    ...sentence('refused', (names) => `Too large or not text, and not used as instructions: ${names}.`),
  ].join(' ');
}

const MAX_NAMES = 10;
