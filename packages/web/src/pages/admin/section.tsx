/** A section: its content, or the error and what to do about it. */
import type { ParlanceError } from '@parlance/sdk';
import type { ReactNode } from 'react';
import { Button } from '../../components/button.tsx';
import { Empty } from '../../components/empty.tsx';
import { Notice } from '../../components/notice.tsx';
import { hrefOf } from '../../router.ts';
import { useShownFault } from '../../state/activity.ts';
import { useServer } from '../../state/server.ts';
import type { Polled } from '../../state/use-polled.ts';

type SectionProps<Value> = {
  readonly title: string;
  /** `again` is null if it refreshes by itself */
  readonly polled: Omit<Polled<Value>, 'again'> & { readonly again: (() => void) | null };
  /** who may see it: “an admin” */
  readonly whose: string;
  readonly actions?: ReactNode;
  readonly children: (value: Value) => ReactNode;
};

export function Section<Value>({ title, polled, whose, actions, children }: SectionProps<Value>) {
  const { value, again } = polled;
  const fault = useShownFault(polled.fault);
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
          {value !== null && ' The values shown may be out of date.'}
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
      title={`For ${whose} only`}
      action={
        local ? (
          <a className="button button-primary" href={hrefOf({ page: 'login' })}>
            Sign in
          </a>
        ) : undefined
      }
    >
      {local ? (
        <>
          You are not signed in. In open mode, everyone on this machine is the user <code>local</code> with
          the role developer. Sign in to open this page: the server printed the password of <code>admin</code>{' '}
          on its first start, unless AUTH_USERS defines users.
        </>
      ) : (
        <>
          You are signed in as {principal.id} with the role {principal.role} (
          {fault.message.replace(/\.$/, '')}). Ask an admin for access.
        </>
      )}
    </Empty>
  );
}
