/** What can be said to the console instead of the agent: a message that begins with `/` and one of these words. */
import type { About } from '@parlance/sdk';

export const SLASHES = [
  { name: 'model', about: 'Which model answers in this session', argument: 'NAME' },
  { name: 'agent', about: 'Which agent answers in this session', argument: 'NAME' },
  { name: 'domain', about: 'Begin a session in another domain', argument: 'NAME' },
  { name: 'approval', about: 'What runs without asking you', argument: 'MODE' },
  { name: 'compact', about: 'Make the context smaller: older turns become a summary' },
  { name: 'clear', about: 'Empty the context; what was said stays readable' },
  { name: 'help', about: 'What can be said here' },
] as const satisfies readonly { name: string; about: string; argument?: string }[];

export type SlashName = (typeof SLASHES)[number]['name'];
export type Slash = { readonly name: SlashName; readonly argument: string };

/** Null where it is a message to the agent: a path at its beginning is no command. */
export function parseSlash(text: string): Slash | null {
  const [, word, argument = ''] = /^\/([a-z]+)(?:[ \t]+(.*))?$/is.exec(text.trim()) ?? [];
  const known = SLASHES.find(({ name }) => name === word?.toLowerCase());
  if (!known || argument.includes('\n')) return null;
  if (!('argument' in known) && argument.trim() !== '') return null;
  return { name: known.name, argument: argument.trim() };
}

export type Choice = {
  /** what the message becomes */
  readonly text: string;
  readonly label: string;
  readonly about: string;
  /** it is complete: choosing it does it */
  readonly complete: boolean;
};

/** What could be meant by what has been typed so far; empty where it is a message to the agent. */
export function slashChoices(text: string, about: About): readonly Choice[] {
  const [, word = '', gap, rest = ''] = /^\/([a-z]*)([ \t]+)?(.*)$/i.exec(text) ?? [];
  if (!text.startsWith('/') || text.includes('\n')) return [];
  if (gap === undefined)
    return rest !== ''
      ? []
      : SLASHES.filter(({ name }) => name.startsWith(word.toLowerCase())).map((slash) => ({
          text: `/${slash.name}${'argument' in slash ? ' ' : ''}`,
          label: `/${slash.name}${'argument' in slash ? ` ${slash.argument}` : ''}`,
          about: slash.about,
          complete: !('argument' in slash),
        }));
  const name = SLASHES.find((slash) => slash.name === word.toLowerCase())?.name;
  const wanted = rest.trim().toLowerCase();
  return argumentsOf(name, about)
    .filter(({ id, label }) => id.toLowerCase().includes(wanted) || label.toLowerCase().includes(wanted))
    .map(({ id, label, about }) => ({ text: `/${name} ${id}`, label, about, complete: true }));
}

type Argument = { readonly id: string; readonly label: string; readonly about: string };

/** The word for “as the server has it”. */
export const AS_SERVER = 'default';

function argumentsOf(name: SlashName | undefined, about: About): readonly Argument[] {
  switch (name) {
    case 'model':
      return [
        { id: AS_SERVER, label: AS_SERVER, about: `As the server has it: ${about.model}` },
        ...about.models.map(({ id, provider }) => ({ id, label: id, about: provider })),
      ];
    case 'agent':
      return about.agents.map(({ id, name, description }) => ({ id, label: name, about: description }));
    case 'domain':
      return about.domains.map(({ id, name, description }) => ({ id, label: name, about: description }));
    case 'approval':
      return [
        { id: AS_SERVER, label: AS_SERVER, about: `As the server has it: ${about.approval}` },
        ...approvalModes(about).map(({ id, about }) => ({ id, label: id, about })),
      ];
    default:
      return [];
  }
}

const MODES = [
  { id: 'suggest', about: 'Ask before every command and every change' },
  { id: 'auto-edit', about: 'Change files in the working directory unasked, ask before commands' },
  { id: 'full-auto', about: 'Run commands unasked, too, in the sandbox' },
] as const;

/** Without a sandbox commands do not run unasked, whatever one chooses. */
export const approvalModes = ({ sandbox }: Pick<About, 'sandbox'>) =>
  MODES.filter(({ id }) => sandbox || id !== 'full-auto');
