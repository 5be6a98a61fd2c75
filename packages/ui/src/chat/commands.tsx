/** Model, agent and approval mode of a session or of a new one, chosen with pickers or with slash commands. */
import type { ApprovalMode } from '@parlance/protocol';
import { type ReactNode, useState } from 'react';
import { attempt, toast } from '../components/controls.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ModelPicker } from '../components/model-picker/model-picker.tsx';
import { OptionPicker } from '../components/option-picker.tsx';
import { may } from '../state/may.ts';
import { useServer } from '../state/server.ts';
import {
  applySlash,
  approvalModes,
  approvalName,
  type Slash,
  type SlashContext,
  slashesFor,
} from './slash.ts';

export type Chosen = {
  /** null: the server's default */
  readonly model: string | null;
  readonly approval: ApprovalMode | null;
  readonly agent: string | null;
  /** agents of this domain are offered */
  readonly domain: string;
};

type PickersProps = {
  readonly chosen: Chosen;
  /** the session does not exist yet: it can begin in any domain */
  readonly isNew?: boolean;
  readonly onChoose: (change: Partial<Chosen>) => void;
  /** further pickers */
  readonly children?: ReactNode;
};

const FULL_AUTO = 'full-auto' satisfies ApprovalMode;

/** An agent can be in several domains. */
const SEPARATOR = '\n';

export function Pickers({ chosen, isNew = false, onChoose, children }: PickersProps) {
  const about = useServer();
  const [confirming, setConfirming] = useState(false);
  const { agents, domains } = about;
  const domain = domains.find(({ id }) => id === chosen.domain);
  const agent = chosen.agent ?? domain?.defaultAgent ?? '';
  const known = agents.find(({ id }) => id === agent);
  const offered = isNew || !domain ? domains : [domain];
  const groups = offered.map(({ id: group, name: label, agents: ids }) => ({
    label,
    options: agents
      .filter(({ id }) => ids.includes(id))
      .map(({ id, name, description }) => ({ id: `${group}${SEPARATOR}${id}`, name, about: description })),
  }));
  const mode = chosen.approval ?? about.approval;
  return (
    <div className="pickers">
      <ModelPicker
        value={chosen.model}
        fallback={known?.model ?? about.model}
        onChoose={(model) => onChoose({ model })}
      />
      <OptionPicker
        label="Agent"
        icon="agent"
        value={`${chosen.domain}${SEPARATOR}${agent}`}
        shown={known?.name ?? agent}
        groups={groups.filter(({ options }) => options.length > 0)}
        onChoose={(id) => {
          const [to = '', next = ''] = id.split(SEPARATOR);
          onChoose({ agent: next, ...(isNew && { domain: to }) });
        }}
      />
      {may(about, 'tool:approve') && (
        <OptionPicker
          label="Approval mode"
          icon="shield"
          isRisky={mode === FULL_AUTO}
          value={chosen.approval ?? ''}
          shown={approvalName(mode)}
          groups={[
            {
              label: 'Approval mode',
              options: [
                { id: '', name: 'As the server', about: `Now: ${approvalName(about.approval)}` },
                ...approvalModes(about),
              ],
            },
          ]}
          onChoose={(id) =>
            id === FULL_AUTO
              ? setConfirming(true)
              : onChoose({ approval: id === '' ? null : (id as ApprovalMode) })
          }
        />
      )}
      {children}
      {confirming && (
        <FullAutoDialog
          onClose={() => setConfirming(false)}
          onConfirm={() => onChoose({ approval: FULL_AUTO })}
        />
      )}
    </div>
  );
}

/** Slash commands of a chat: `onSlash` executes one, and `dialog` is what it has opened. */
export function useCommands(
  context: Pick<SlashContext, 'choose' | 'compact' | 'clear' | 'limit' | 'openDomain'>,
) {
  const about = useServer();
  const [open, setOpen] = useState<'help' | 'full-auto' | null>(null);
  const close = () => setOpen(null);
  const onSlash = async (slash: Slash): Promise<boolean> => {
    let done = false;
    await attempt(async () => {
      done = await applySlash(slash, about, {
        ...context,
        notice: toast,
        help: () => setOpen('help'),
        confirmFullAuto: () => setOpen('full-auto'),
      });
    });
    return done;
  };
  return {
    onSlash,
    dialog: (
      <>
        {open === 'help' && <HelpDialog onClose={close} />}
        {open === 'full-auto' && (
          <FullAutoDialog
            onClose={close}
            onConfirm={() => void attempt(() => context.choose({ approval: FULL_AUTO }))}
          />
        )}
      </>
    ),
  };
}

type FullAutoProps = { readonly onConfirm: () => void; readonly onClose: () => void };

/** Asked before a session runs everything without approval. */
function FullAutoDialog({ onConfirm, onClose }: FullAutoProps) {
  return (
    <Dialog
      title="Run everything without asking?"
      confirm="Turn on full access"
      danger
      onClose={onClose}
      onConfirm={onConfirm}
    >
      <p>In this session the agent will edit files and run commands in the sandbox without your approval.</p>
    </Dialog>
  );
}

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Commands and shortcuts" confirm="Close" plain onConfirm={onClose} onClose={onClose}>
      <dl className="help">
        {slashesFor(useServer()).map((slash) => (
          <div key={slash.name}>
            <dt>
              /{slash.name} {'argument' in slash && <var>{slash.argument}</var>}
            </dt>
            <dd>{slash.about}</dd>
          </div>
        ))}
      </dl>
      <Shortcuts />
    </Dialog>
  );
}

const KEYS = [
  ['Ctrl+K', 'Find sessions, messages and commands'],
  ['?', 'Commands and shortcuts'],
  ['Enter', 'Send, or queue while the agent works'],
  ['Alt+Enter', 'Steer: the agent reads this message with its next step'],
  ['Ctrl+Enter', 'Interrupt the agent with this message'],
  ['Shift+Enter', 'New line'],
  ['@', 'Mention a file of the working folder'],
  ['↑ ↓', 'Recall earlier messages (empty field)'],
  ['Escape', 'Leave the message field, or go to the pending approval'],
] as const;
const APPROVAL_KEYS = [
  [
    'y a n e',
    'Answer the pending approval: once, always, deny, explain. Not if more is typed within a second',
  ],
] as const;

export function Shortcuts() {
  const keys = may(useServer(), 'tool:approve') ? [...KEYS, ...APPROVAL_KEYS] : KEYS;
  return (
    <dl className="help">
      {keys.map(([key, about]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{about}</dd>
        </div>
      ))}
    </dl>
  );
}
