/** Users. Tokens can only be revoked all at once per user: the server keeps no list of issued tokens. */

import { Button } from '@parlance/ui/components/button.tsx';
import { Chip } from '@parlance/ui/components/chip.tsx';
import { Menu } from '@parlance/ui/components/menu.tsx';
import { toast } from '@parlance/ui/components/toast.tsx';
import { parlance, useServer } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { Section } from './section.tsx';
import { UserDialog, type UserDialogState } from './user-dialog.tsx';

const { users } = parlance.admin;

export function UsersSection() {
  const polled = usePolled(users.list);
  const [dialog, setDialog] = useState<UserDialogState | null>(null);
  const mine = useServer().principal.id;

  async function run(work: () => Promise<unknown>, done: string): Promise<void> {
    await work();
    toast(done);
    polled.again();
  }

  return (
    <Section
      title="Users"
      polled={polled}
      actions={
        <Button variant="primary" icon="plus" onClick={() => setDialog({ what: 'add' })}>
          Add user
        </Button>
      }
    >
      {(list) => (
        <>
          <p className="hint">
            A token is valid for 24 hours. Signing a user out revokes all their tokens and closes their
            sockets and streams.
          </p>
          <ul className="admin-list" aria-label="Users">
            {list.map((user) => (
              <li className="card" key={user.name}>
                <div className="admin-what">
                  <strong>{user.name}</strong>{' '}
                  <Chip variant={user.role === 'admin' ? 'good' : 'plain'}>{user.role}</Chip>
                  {user.name === mine && <Chip variant="busy">you</Chip>}
                  <p className="hint">
                    since {new Date(user.createdAt).toLocaleDateString()}
                    {user.fromSettings && '; managed by AUTH_USERS, which is applied at every start'}
                  </p>
                </div>
                <Button
                  onClick={() => setDialog({ what: 'logout', user })}
                  aria-label={`Sign ${user.name} out`}
                >
                  Sign out
                </Button>
                <Menu
                  label={`Actions for ${user.name}`}
                  items={() => [
                    {
                      label: 'Change role',
                      icon: 'shield',
                      onSelect: () => setDialog({ what: 'role', user }),
                    },
                    {
                      label: 'New password',
                      icon: 'edit',
                      onSelect: () => setDialog({ what: 'password', user }),
                    },
                    {
                      label: 'Remove',
                      icon: 'trash',
                      danger: true,
                      onSelect: () => setDialog({ what: 'remove', user }),
                    },
                  ]}
                />
              </li>
            ))}
          </ul>
          {dialog && <UserDialog dialog={dialog} mine={mine} run={run} close={() => setDialog(null)} />}
        </>
      )}
    </Section>
  );
}
