/** Limits on money and tokens: how much of one's own is used, and those of the server, which admins set. */
import type { Json, SpendLimit } from '@parlance/protocol';
import { amountsText } from '@parlance/protocol/spending';
import { Button, Empty, Field, Select } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { may } from '@parlance/ui/state/may.ts';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { Card, RemoveDialog, Section, useSettings } from './section.tsx';

type DialogState =
  | { readonly what: 'edit'; readonly index: number | null }
  | { readonly what: 'remove'; readonly index: number };

const EVERY_MS = 10_000;

export function LimitsSection() {
  const maySetUp = may(useServer(), 'setup');
  const own = usePolled(parlance.usage.limits, EVERY_MS);
  const { polled, change } = useSettings();
  const [dialog, setDialog] = useState<DialogState | null>(null);
  const close = () => setDialog(null);
  const stored = limitsIn(polled.value?.stored.spendLimits);

  async function save(limits: readonly SpendLimit[], done: string): Promise<void> {
    await change({ spendLimits: limits.map((limit) => ({ ...limit }) as Json) }, done);
    own.again();
  }

  return (
    <Section
      title="Spend limits"
      polled={own}
      actions={
        maySetUp &&
        polled.value && (
          <Button variant="primary" icon="plus" onClick={() => setDialog({ what: 'edit', index: null })}>
            Add limit
          </Button>
        )
      }
    >
      {(uses) => (
        <>
          <p className="hint">
            A turn whose next step would begin above a limit ends, and new messages are refused until it is
            reset or raised. Your own session can have a limit of its own, in the chat: it asks instead.
          </p>
          {uses.length === 0 && stored.length === 0 && (
            <Empty title="No spend limits">
              {maySetUp
                ? 'Models may use any amount. A limit per user and day is a good start.'
                : 'Nothing limits what your sessions use.'}
            </Empty>
          )}
          {uses.length > 0 && (
            <ul className="admin-list" aria-label="Your limits">
              {uses.map(({ text, used, max, unit }) => (
                <Card key={text}>
                  <strong>{text}</strong>
                  <meter
                    className="limit-use"
                    min={0}
                    max={max || 1}
                    high={0.8 * max}
                    value={max === 0 ? 1 : used}
                    aria-label={`${unit} used: ${text}`}
                  />
                </Card>
              ))}
            </ul>
          )}
          {maySetUp && stored.length > 0 && (
            <>
              <h3>Of this server</h3>
              <ul className="admin-list" aria-label="Limits of this server">
                {stored.map((limit, index) => (
                  <Card
                    // biome-ignore lint/suspicious/noArrayIndexKey: two limits can be the same
                    key={index}
                    actions={
                      <>
                        <Button
                          aria-label={`Edit ${limitText(limit)}`}
                          onClick={() => setDialog({ what: 'edit', index })}
                        >
                          Edit
                        </Button>
                        <Button
                          variant="danger"
                          aria-label={`Remove ${limitText(limit)}`}
                          onClick={() => setDialog({ what: 'remove', index })}
                        >
                          Remove
                        </Button>
                      </>
                    }
                  >
                    {limitText(limit)}
                  </Card>
                ))}
              </ul>
            </>
          )}
          {maySetUp && (
            <p className="hint">
              Limits in the <code>spendLimits</code> of the config file apply as well.
            </p>
          )}
          {dialog?.what === 'edit' && (
            <LimitDialog
              limit={dialog.index === null ? null : (stored[dialog.index] ?? null)}
              onClose={close}
              onSave={(limit) =>
                save(
                  dialog.index === null ? [...stored, limit] : stored.with(dialog.index, limit),
                  'The limit was saved.',
                )
              }
            />
          )}
          {dialog?.what === 'remove' && (
            <RemoveDialog
              name="this limit"
              onClose={close}
              onConfirm={() => save(stored.toSpliced(dialog.index, 1), 'The limit was removed.')}
            >
              {limitText(stored[dialog.index])} no longer counts.
            </RemoveDialog>
          )}
        </>
      )}
    </Section>
  );
}

/** The server has checked them when they were stored. */
const limitsIn = (stored: Json | undefined): readonly SpendLimit[] =>
  Array.isArray(stored) ? (stored as unknown as SpendLimit[]) : [];

const SCOPES = {
  user: 'Each user',
  agent: 'Each agent',
  key: 'Each API key',
  session: 'Each session',
  turn: 'Each turn',
} as const satisfies Record<SpendLimit['per'], string>;

const ONE = { user: 'User', agent: 'Agent', key: 'API key' } as const;

/** `$10.00 per day for each user` */
export function limitText(limit: SpendLimit | undefined): string {
  if (!limit) return '';
  const { per, of, in: period } = limit;
  const whom =
    of === undefined || per === 'turn' || per === 'session'
      ? SCOPES[per].toLowerCase().replace('api', 'API')
      : `the ${ONE[per].toLowerCase().replace('api', 'API')} ${of}`;
  return `${amountsText(limit)}${period ? ` per ${period}` : ''} for ${whom}`;
}

const isPeriodic = (per: SpendLimit['per']): per is keyof typeof ONE => per !== 'turn' && per !== 'session';

type LimitDialogProps = {
  /** null: a new one */
  readonly limit: SpendLimit | null;
  readonly onSave: (limit: SpendLimit) => Promise<void>;
  readonly onClose: () => void;
};

function LimitDialog({ limit, onSave, onClose }: LimitDialogProps) {
  const { agents } = useServer();
  const [per, setPer] = useState<SpendLimit['per']>(limit?.per ?? 'user');
  const [dollars, setDollars] = useState(limit?.dollars?.toString() ?? '');
  const [tokens, setTokens] = useState(limit?.tokens?.toString() ?? '');

  function confirm(fields: FormData): Promise<void> {
    const of = String(fields.get('of') ?? '').trim();
    return onSave({
      per,
      ...(isPeriodic(per) && { in: fields.get('in') === 'month' ? ('month' as const) : ('day' as const) }),
      ...(isPeriodic(per) && of !== '' && { of }),
      ...(dollars !== '' && { dollars: Number(dollars) }),
      ...(tokens !== '' && { tokens: Number(tokens) }),
    });
  }

  /** The browser refuses to submit the form without any amount. */
  const refuseNone = (field: HTMLInputElement | null) =>
    field?.setCustomValidity(dollars === '' && tokens === '' ? 'Enter US dollars, tokens or both.' : '');

  return (
    <Dialog title={limit ? 'Edit limit' : 'New limit'} confirm="Save" onClose={onClose} onConfirm={confirm}>
      <Select
        label="For"
        value={per}
        options={Object.entries(SCOPES)}
        onChange={({ target }) => setPer(target.value as SpendLimit['per'])}
      />
      {isPeriodic(per) && (
        <>
          {per === 'agent' ? (
            <Select
              key={per}
              label="Only this one"
              name="of"
              defaultValue={limit?.of ?? ''}
              options={[
                ['', 'All agents, each by itself'],
                ...agents.map(({ id, name }) => [id, name] as const),
              ]}
            />
          ) : (
            <Field
              key={per}
              label={per === 'user' ? 'Only this user (optional)' : 'Only the key with this id (optional)'}
              name="of"
              maxLength={200}
              spellCheck={false}
              defaultValue={limit?.per === per ? limit.of : undefined}
            />
          )}
          <Select
            label="In a calendar"
            name="in"
            defaultValue={limit?.in ?? 'day'}
            options={[
              ['day', 'day (UTC)'],
              ['month', 'month (UTC)'],
            ]}
          />
        </>
      )}
      <Field
        label="US dollars"
        ref={refuseNone}
        type="number"
        min="0"
        max="1000000000"
        step="any"
        inputMode="decimal"
        value={dollars}
        onChange={({ target }) => setDollars(target.value)}
      />
      <Field
        label="Tokens, input and output"
        type="number"
        min="0"
        max="1000000000000000"
        step="1"
        inputMode="numeric"
        value={tokens}
        onChange={({ target }) => setTokens(target.value)}
      />
      <p className="hint">
        0 allows nothing. Models without a price count for tokens only. A limit that names somebody replaces
        the one for all.
      </p>
    </Dialog>
  );
}
