/** Slash commands: those of the console, and those only useful in a terminal. */
import type { About, ProviderModels } from '@parlance/sdk';
import {
  applySlash,
  type NamedSkill,
  NO_OFFERS,
  type Offers,
  parseSlash,
  SLASHES,
  type Slash,
  type SlashContext,
  slashChoices,
} from '@parlance/ui/chat/slash.ts';
import { draftOf } from '../terminal/editor.ts';
import type { MenuChoice } from './composer.ts';

const OWN = [
  { name: 'sessions', about: 'Choose another session' },
  { name: 'new', about: 'Start a new session' },
  { name: 'open', about: 'Open this session in the console' },
  { name: 'cost', about: 'Tokens and cost of this session, and of today' },
  { name: 'agents', about: 'The agents to choose from, and the sub-agents of this session' },
  { name: 'rewind', about: 'Show what a rewind to before the last message takes back' },
  { name: 'rewind now', about: 'Take back the last message and its changes of files' },
  { name: 'rewind files', about: 'Take back only its changes of files' },
  { name: 'rewind undo', about: 'Undo the last rewind' },
  { name: 'quit', about: 'Leave' },
] as const;

export type Command = Slash | { readonly name: (typeof OWN)[number]['name']; readonly argument: '' };

/** Null if the text is a message to the agent. */
export function parseCommand(text: string): Command | null {
  const word = text.trim().toLowerCase();
  const own = OWN.find(({ name }) => `/${name}` === word || (name === 'quit' && word === '/exit'));
  return own ? { name: own.name, argument: '' } : parseSlash(text);
}

/** What else completes a slash. */
export type Offered = {
  readonly skills?: readonly NamedSkill[];
  readonly offers?: Offers;
  readonly providers?: readonly ProviderModels[];
};

export function commandChoices(
  text: string,
  about: About,
  { skills = [], offers = NO_OFFERS, providers = [] }: Offered = {},
): MenuChoice[] {
  const own = /^\/[a-z]*$/i.test(text)
    ? OWN.filter(({ name }) => `/${name}`.startsWith(text.toLowerCase()))
    : [];
  return [
    ...slashChoices(text, about, providers, skills, offers).map(({ text, label, about, complete }) => ({
      draft: draftOf(text),
      label,
      about,
      complete,
    })),
    ...own.map(({ name, about }) => ({
      draft: draftOf(`/${name}`),
      label: `/${name}`,
      about,
      complete: true,
    })),
  ];
}

export const COMMANDS: readonly { readonly label: string; readonly about: string }[] = [
  ...SLASHES,
  ...OWN,
].map((one) => ({ label: `/${one.name}${'argument' in one ? ` ${one.argument}` : ''}`, about: one.about }));

export type Rewind = 'preview' | 'all' | 'files' | 'undo';

export type CommandContext = SlashContext & {
  sessions(): Promise<unknown>;
  newSession(): void;
  open(): Promise<unknown>;
  rewind(what: Rewind): Promise<unknown>;
  cost(): Promise<unknown>;
  agents(): void;
  quit(): void;
};

/** Rejects with the server's error. */
export async function applyCommand(command: Command, about: About, context: CommandContext): Promise<void> {
  switch (command.name) {
    case 'sessions':
      await context.sessions();
      return;
    case 'new':
      return context.newSession();
    case 'open':
      await context.open();
      return;
    case 'rewind':
      await context.rewind('preview');
      return;
    case 'rewind now':
      await context.rewind('all');
      return;
    case 'rewind files':
      await context.rewind('files');
      return;
    case 'rewind undo':
      await context.rewind('undo');
      return;
    case 'cost':
      await context.cost();
      return;
    case 'agents':
      return context.agents();
    case 'quit':
      return context.quit();
    default:
      await applySlash(command, about, context);
  }
}
