/** Slash commands of the console and the terminal. */
import type { Amount, ApprovalMode } from '@parlance/protocol';
import { amountsText } from '@parlance/protocol/spending';
import type { About, McpOffers, ProviderModels, SavedPrompt } from '@parlance/sdk';
import { type ModelGroup, matching, modelGroups } from '../components/model-picker/options.ts';
import { type Caller, may, type Needs } from '../state/may.ts';

export const SLASHES = [
  { name: 'model', about: 'Set the model of this session', argument: 'NAME' },
  { name: 'agent', about: 'Set the agent of this session', argument: 'NAME' },
  { name: 'domain', about: 'Start a session in another domain', argument: 'NAME' },
  { name: 'approval', about: 'Set what runs without approval', argument: 'MODE', needs: 'tool:approve' },
  { name: 'limit', about: 'Ask above so many dollars, or tokens; none removes it', argument: 'AMOUNT' },
  { name: 'attach', about: 'Attach a resource of an MCP server', argument: 'RESOURCE' },
  { name: 'compact', about: 'Compact the context: summarise older turns' },
  { name: 'clear', about: 'Clear the context; the history stays readable' },
  { name: 'help', about: 'Commands and shortcuts' },
] as const satisfies readonly { name: string; about: string; argument?: string; needs?: Needs }[];

/** The commands that the caller may use. */
export const slashesFor = (caller: Caller) =>
  SLASHES.filter((slash) => !('needs' in slash) || may(caller, slash.needs));

export type SlashName = (typeof SLASHES)[number]['name'];
export type Slash = { readonly name: SlashName; readonly argument: string };

/** Null if it is a message to the agent; a leading path is not a command. */
export function parseSlash(text: string): Slash | null {
  const [, word, argument = ''] = /^\/([a-z]+)(?:[ \t]+(.*))?$/is.exec(text.trim()) ?? [];
  const known = SLASHES.find(({ name }) => name === word?.toLowerCase());
  if (!known || argument.includes('\n')) return null;
  if (!('argument' in known) && argument.trim() !== '') return null;
  return { name: known.name, argument: argument.trim() };
}

export type Choice = {
  /** text of the message after choosing it */
  readonly text: string;
  readonly label: string;
  readonly about: string;
  /** choosing it runs it */
  readonly complete: boolean;
  /** the file that it mentions, instead of `text` */
  readonly path?: string;
};

/** Whether models are completed, whose list should be loaded. */
export const namesModel = (text: string): boolean => /^\/model[ \t]/i.test(text);

/** More are found by typing. */
const MOST_MODELS = 20;
const MOST_RESOURCES = 20;

/** A skill that a message can ask for. */
export type NamedSkill = { readonly name: string; readonly description: string };

/** What MCP servers offer to the user. */
export type Offers = Pick<McpOffers, 'prompts' | 'resources'> & {
  /** that the user has saved */
  readonly saved?: readonly SavedPrompt[];
};

export const NO_OFFERS: Offers = { prompts: [], resources: [] };

type NamedPrompt = {
  readonly server: string;
  readonly name: string;
  readonly arguments: Record<string, string>;
};

/**
 * `/server:prompt` with its arguments, as `name=value` or, for the first that is missing, as the text that is left; null if the text is a
 * message to the agent.
 */
export function parsePrompt(text: string, { prompts }: Offers): NamedPrompt | null {
  const [, command = '', rest = ''] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const prompt = prompts.find(({ server, name }) => `${server}:${name}` === command);
  if (!prompt) return null;
  const given: Record<string, string> = {};
  const left = rest.replace(
    /(\S+?)=(?:"([^"]*)"|(\S+))/g,
    (whole, name: string, quoted?: string, plain?: string) => {
      if (!prompt.arguments.some((one) => one.name === name)) return whole;
      given[name] = quoted ?? plain ?? '';
      return '';
    },
  );
  const missing = prompt.arguments.find(({ name }) => given[name] === undefined);
  if (missing && left.trim() !== '') given[missing.name] = left.trim();
  return { server: prompt.server, name: prompt.name, arguments: given };
}

/** The text of a saved prompt, followed by what is after its name; null if it is none. */
export function savedText(text: string, { saved = [] }: Offers): string | null {
  const [, name, rest = ''] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const prompt = saved.find((one) => one.name === name && !isCommand(one.name));
  return prompt ? [prompt.text, rest.trim()].filter(Boolean).join('\n\n') : null;
}

/** `server:uri`, as `/attach` names a resource. */
export function resourceIn(argument: string): { readonly server: string; readonly uri: string } | null {
  const [, server, uri] = /^([\w-]+):(.+)$/.exec(argument) ?? [];
  return server && uri ? { server, uri } : null;
}

/** Skills and saved prompts cannot take the place of a command. */
export const isCommand = (named: string): boolean => SLASHES.some(({ name }) => name === named);

/** Completions for the typed text; empty if it is a message to the agent. `providers` are the known lists of models. */
export function slashChoices(
  text: string,
  about: About,
  providers: readonly ProviderModels[] = [],
  skills: readonly NamedSkill[] = [],
  offers: Offers = NO_OFFERS,
): readonly Choice[] {
  const [, word = '', gap, rest = ''] = /^\/([a-z0-9:_.-]*)([ \t]+)?(.*)$/i.exec(text) ?? [];
  if (!text.startsWith('/') || text.includes('\n')) return [];
  if (gap === undefined)
    return rest !== ''
      ? []
      : [
          ...slashesFor(about)
            .filter(({ name }) => name.startsWith(word.toLowerCase()))
            .map((slash) => ({
              text: `/${slash.name}${'argument' in slash ? ' ' : ''}`,
              label: `/${slash.name}${'argument' in slash ? ` ${slash.argument}` : ''}`,
              about: slash.about,
              complete: !('argument' in slash),
            })),
          ...(offers.saved ?? [])
            .filter((saved) => saved.name.startsWith(word.toLowerCase()) && !isCommand(saved.name))
            .map((saved) => ({
              text: `/${saved.name} `,
              label: `/${saved.name}`,
              about: saved.text.replace(/\s+/g, ' ').slice(0, 120),
              complete: false,
            })),
          ...skills
            .filter(({ name }) => name.startsWith(word.toLowerCase()) && !isCommand(name))
            .map(({ name, description }) => ({
              text: `/${name} `,
              label: `/${name}`,
              about: description,
              complete: false,
            })),
          ...offers.prompts
            .filter(({ server, name }) => `${server}:${name}`.toLowerCase().startsWith(word.toLowerCase()))
            .map((prompt) => ({
              text: `/${prompt.server}:${prompt.name} `,
              label: [
                `/${prompt.server}:${prompt.name}`,
                ...prompt.arguments.map(({ name }) => name.toUpperCase()),
              ].join(' '),
              about: prompt.description,
              complete: false,
            })),
        ];
  const name = slashesFor(about).find((slash) => slash.name === word.toLowerCase())?.name;
  if (name === 'model') return modelChoices(rest.trim(), about, providers);
  const wanted = rest.trim().toLowerCase();
  if (name === 'attach')
    return offers.resources
      .filter(({ server, uri, name }) => `${server}:${uri} ${name}`.toLowerCase().includes(wanted))
      .slice(0, MOST_RESOURCES)
      .map(({ server, uri, name, description }) => ({
        text: `/attach ${server}:${uri}`,
        label: name,
        about: [server, description].filter(Boolean).join(': '),
        complete: true,
      }));
  return argumentsOf(name, about)
    .filter(({ id, label }) => id.toLowerCase().includes(wanted) || label.toLowerCase().includes(wanted))
    .map(({ id, label, about }) => ({ text: `/${name} ${id}`, label, about, complete: true }));
}

type Argument = { readonly id: string; readonly label: string; readonly about: string };

/** Argument for the server's default. */
export const AS_SERVER = 'default';

/** The models of the picker. One that is typed in full is the first, since Enter chooses it. */
function modelChoices(wanted: string, about: About, providers: readonly ProviderModels[]): readonly Choice[] {
  const choicesOf = (groups: readonly ModelGroup[]): Choice[] =>
    groups.flatMap(({ label: provider, options }) =>
      options.map(({ value, label }) => ({
        text: `/model ${value ?? AS_SERVER}`,
        label: value === null ? AS_SERVER : label,
        about: value === null ? `Server default: ${about.model}` : provider,
        complete: true,
      })),
    );
  const groups = modelGroups({ named: about.models, providers, fallback: about.model, chosen: null });
  const exact = choicesOf(groups).filter(
    ({ text, label }) => label === wanted || text === `/model ${wanted}`,
  );
  const all = [...exact, ...choicesOf(matching(groups, wanted, MOST_MODELS).groups)];
  return all.filter(({ text }, index) => all.findIndex((other) => other.text === text) === index);
}

function argumentsOf(name: SlashName | undefined, about: About): readonly Argument[] {
  switch (name) {
    case 'agent':
      return about.agents.map(({ id, name, description }) => ({ id, label: name, about: description }));
    case 'domain':
      return about.domains.map(({ id, name, description }) => ({ id, label: name, about: description }));
    case 'approval':
      return [
        { id: AS_SERVER, label: AS_SERVER, about: `Server default: ${approvalName(about.approval)}` },
        ...approvalModes(about).map(({ id, name, about }) => ({ id, label: id, about: `${name}: ${about}` })),
      ];
    default:
      return [];
  }
}

const MODES = [
  { id: 'suggest', name: 'Ask first', about: 'Asks before every command and file change' },
  { id: 'auto-edit', name: 'Edit freely', about: 'Edits files in the working folder; asks before commands' },
  { id: 'full-auto', name: 'Full access', about: 'Also runs commands without asking, in the sandbox' },
] as const;

/** What people read for an approval mode. */
export const approvalName = (mode: ApprovalMode): string => MODES.find(({ id }) => id === mode)?.name ?? mode;

/** Commands need a sandbox to run without approval, whatever the mode. */
export const approvalModes = ({ sandbox }: Pick<About, 'sandbox'>) =>
  MODES.filter(({ id }) => sandbox || id !== 'full-auto');

/** An amount as a person writes it: `$1.50`, `1.50`, `20,000 tokens`, `none`. */
function amountIn(text: string): Amount | null | undefined {
  if (text.toLowerCase() === 'none') return null;
  const [, number = '', tokens] = /^\$?(\d[\d,]{0,14}(?:\.\d{1,6})?)(\s*tokens?)?$/i.exec(text) ?? [];
  if (number === '' || (tokens && (number.includes('.') || text.startsWith('$')))) return undefined;
  const amount = Number(number.replaceAll(',', ''));
  return tokens ? { tokens: amount } : amount > 1e9 ? undefined : { dollars: amount };
}

/** What slash commands act on. Promises reject with the server's error. */
export type SlashContext = {
  choose(change: {
    readonly model?: string | null;
    readonly agent?: string;
    readonly approval?: ApprovalMode | null;
  }): Promise<unknown>;
  compact(): Promise<unknown>;
  clear(): Promise<unknown>;
  /** Sets what the session may use; absent if there is no session yet. */
  limit?(amount: Amount | null): Promise<unknown>;
  /** Attaches a resource to the next message. */
  attach?(resource: { readonly server: string; readonly uri: string }): Promise<unknown>;
  /** Begins a session in the domain. */
  openDomain(domain: About['domains'][number]): void;
  help(): void;
  /** Shows a sentence. */
  notice(text: string): void;
  /** Asks before everything runs without approval. */
  confirmFullAuto?(): void;
};

/** Executes a slash command. False if nothing was done and the reason was shown. */
export async function applySlash(
  { name, argument }: Slash,
  about: About,
  context: SlashContext,
): Promise<boolean> {
  const named = <One extends { readonly id: string; readonly name: string }>(all: readonly One[]) =>
    all.find(({ id, name }) => [id, name.toLowerCase()].includes(argument.toLowerCase()));
  const missing = (usage: string, known: readonly { readonly id: string }[]): false => {
    context.notice(`${usage}: ${known.map(({ id }) => id).join(', ')}`);
    return false;
  };
  switch (name) {
    case 'help':
      context.help();
      return true;
    case 'attach': {
      const resource = resourceIn(argument);
      if (!resource) {
        context.notice('/attach RESOURCE: a server and an address, such as files:file:///notes.md');
        return false;
      }
      await context.attach?.(resource);
      return true;
    }
    case 'compact':
      await context.compact();
      return true;
    case 'clear':
      await context.clear();
      return true;
    case 'limit': {
      const amount = amountIn(argument);
      if (amount === undefined) {
        context.notice('/limit AMOUNT: 1.50 (US dollars), 20000 tokens, or none');
        return false;
      }
      if (!context.limit) {
        context.notice('Send a message first: a limit belongs to a session.');
        return false;
      }
      await context.limit(amount);
      context.notice(
        amount ? `This session asks above ${amountsText(amount)}.` : 'This session has no limit.',
      );
      return true;
    }
    case 'model':
      if (argument === '') return missing('/model NAME', about.models);
      await context.choose({ model: argument === AS_SERVER ? null : argument });
      context.notice(`Model: ${argument === AS_SERVER ? `${about.model} (server default)` : argument}.`);
      return true;
    case 'agent': {
      const agent = named(about.agents);
      if (!agent) return missing('/agent NAME', about.agents);
      await context.choose({ agent: agent.id });
      context.notice(`Agent: ${agent.name}.`);
      return true;
    }
    case 'domain': {
      const domain = named(about.domains);
      if (!domain) return missing('/domain NAME', about.domains);
      context.openDomain(domain);
      return true;
    }
    case 'approval': {
      const modes = approvalModes(about);
      const mode = modes.find(({ id }) => id === argument)?.id;
      if (!mode && argument !== AS_SERVER) return missing('/approval MODE', modes);
      if (mode === 'full-auto' && context.confirmFullAuto) {
        context.confirmFullAuto();
        return true;
      }
      await context.choose({ approval: mode ?? null });
      context.notice(
        `Approval mode: ${approvalName(mode ?? about.approval)}${mode ? '' : ' (server default)'}.`,
      );
      return true;
    }
  }
}
