/** A section of the page: what is shown, or why it is not and what to do about that. */
import type { ParlanceError } from '@parlance/sdk';
import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Notice } from '../../components/notice.tsx';
import { hrefOf } from '../../router.ts';
import { useServer } from '../../state/server.ts';
import type { Polled } from './use-polled.ts';

type SectionProps<Value> = {
  readonly title: string;
  /** `again` is null where it is asked again by itself */
  readonly polled: Omit<Polled<Value>, 'again'> & { readonly again: (() => void) | null };
  /** who may see it: “an admin” */
  readonly whose: string;
  readonly actions?: ReactNode;
  readonly children: (value: Value) => ReactNode;
};

export function Section<Value>({ title, polled, whose, actions, children }: SectionProps<Value>) {
  const { value, fault, again } = polled;
  const refused = fault?.code === 'forbidden';
  return (
    <section
      className="admin-section"
      aria-labelledby="admin-section-title"
      aria-busy={value === null && !fault}
    >
      <div className="admin-head">
        <h2 id="admin-section-title">{title}</h2>
        {value !== null && !refused && actions}
      </div>
      {fault && refused && <Refused whose={whose} fault={fault} />}
      {fault && !refused && (
        <Notice look="danger" action={again && <Button onClick={again}>Try again</Button>}>
          {fault.message}
          {value !== null && ' What is shown was true before.'}
        </Notice>
      )}
      {value !== null && !refused && children(value)}
    </section>
  );
}

function Refused({ whose, fault }: { whose: string; fault: ParlanceError }) {
  const { auth, principal } = useServer();
  const local = auth === 'open' && principal.id === 'local';
  return (
    <Empty
      title={`Only for ${whose}`}
      action={
        local ? (
          <a className="button button-primary" href={hrefOf({ page: 'login' })}>
            Log in
          </a>
        ) : undefined
      }
    >
      {local ? (
        <>
          You are not logged in: in open mode everybody on this machine is <code>local</code>, a developer.
          Log in as {whose}; the first start of the server printed the password of <code>admin</code>, unless
          AUTH_USERS named users.
        </>
      ) : (
        <>
          You are {principal.id}, and your role is {principal.role} ({fault.message.replace(/\.$/, '')}). Log
          out and in again as {whose}, or ask one.
        </>
      )}
    </Empty>
  );
}
