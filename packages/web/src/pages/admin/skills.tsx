/** Skills of the server: what agents are offered, added by upload or from a folder of the server. */
import type { ServerSkill } from '@parlance/sdk';
import { Button, Chip, Empty, Field, Notice, toast } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { parlance } from '@parlance/ui/state/server.ts';
import { useState } from 'react';
import { usePolled } from '../../state/use-polled.ts';
import { Card, RemoveDialog, Section } from './section.tsx';

type DialogState = 'add' | { readonly shown: ServerSkill } | { readonly removed: ServerSkill };

export function SkillsSection() {
  const polled = usePolled(parlance.admin.skills.list);
  const { value: setup } = usePolled(parlance.admin.agents);
  const [dialog, setDialog] = useState<DialogState | null>(null);
  const close = () => setDialog(null);
  const agentsWith = (name: string): string => {
    const offered = setup?.agents.filter(({ skills }) => skills?.includes(name) ?? true) ?? [];
    if (offered.length === setup?.agents.length) return 'Offered to all agents';
    return offered.length === 0
      ? 'Offered to no agent'
      : `Offered to ${offered.map((agent) => agent.name).join(', ')}`;
  };
  return (
    <Section
      title="Skills"
      polled={polled}
      actions={
        <Button variant="primary" icon="plus" onClick={() => setDialog('add')}>
          Add skill
        </Button>
      }
    >
      {(skills) => (
        <>
          <p className="hint">
            A skill is a folder with a SKILL.md: instructions for a kind of task, which an agent loads when it
            needs them. <code>/name</code> in a message asks for one. Who is offered which is chosen in{' '}
            <i>Agents</i>.
          </p>
          {skills.length === 0 ? (
            <Empty title="No skills">Add one by upload, or from a folder of the server.</Empty>
          ) : (
            <ul className="admin-list" aria-label="Skills">
              {skills.map((skill) => {
                const { name, description, source, problem, folder } = skill;
                return (
                  <Card
                    key={folder}
                    actions={
                      <>
                        <Button aria-label={`View ${name}`} onClick={() => setDialog({ shown: skill })}>
                          View
                        </Button>
                        {source === 'data' && (
                          <Button aria-label={`Remove ${name}`} onClick={() => setDialog({ removed: skill })}>
                            Remove
                          </Button>
                        )}
                      </>
                    }
                  >
                    <strong>{name}</strong> {source === 'configured' && <Chip>configured folder</Chip>}
                    {problem !== null && <Chip variant="bad">not offered</Chip>}
                    <p className="hint">{problem ?? description}</p>
                    {problem === null && <p className="hint">{agentsWith(name)}</p>}
                  </Card>
                );
              })}
            </ul>
          )}
          {dialog === 'add' && (
            <AddDialog
              close={close}
              done={(skill) => {
                toast(`${skill.name} was added.`);
                polled.again();
              }}
            />
          )}
          {dialog !== null && dialog !== 'add' && 'shown' in dialog && (
            <TextDialog skill={dialog.shown} close={close} />
          )}
          {dialog !== null && dialog !== 'add' && 'removed' in dialog && (
            <RemoveDialog
              name={dialog.removed.name}
              onClose={close}
              onConfirm={async () => {
                await parlance.admin.skills.remove(dialog.removed.name);
                toast(`${dialog.removed.name} was removed.`);
                polled.again();
              }}
            >
              Its files are deleted from the data folder.
            </RemoveDialog>
          )}
        </>
      )}
    </Section>
  );
}

/** What the model reads when it loads the skill. */
function TextDialog({ skill, close }: { readonly skill: ServerSkill; readonly close: () => void }) {
  const { value } = usePolled(() => parlance.admin.skills.read(skill.name));
  return (
    <Dialog title={skill.name} confirm="Close" onClose={close} onConfirm={async () => close()}>
      <p className="hint">
        <code>{skill.folder}</code>
      </p>
      <pre className="skill-text">{value?.text ?? ''}</pre>
      {skill.files.length > 0 && (
        <>
          <h3>Files</h3>
          <ul>
            {skill.files.map((path) => (
              <li key={path}>
                <code>{path}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  );
}

type AddProps = { readonly close: () => void; readonly done: (skill: ServerSkill) => void };

function AddDialog({ close, done }: AddProps) {
  const [files, setFiles] = useState<readonly File[]>([]);
  const [path, setPath] = useState('');
  async function add(): Promise<void> {
    const folder = path.trim();
    done(
      await parlance.admin.skills.add(
        folder === '' ? { files: await Promise.all(files.map(uploaded)) } : { path: folder },
      ),
    );
  }
  return (
    <Dialog title="Add skill" confirm="Add" onClose={close} onConfirm={add}>
      <Notice>
        Agents follow a skill of the server without asking. Add only what you have read: it is offered to all
        users.
      </Notice>
      <label className="field">
        Upload a folder
        <input
          type="file"
          // @ts-expect-error Not in the types of React. Without support, files are chosen.
          webkitdirectory=""
          multiple
          onChange={({ target }) => setFiles([...(target.files ?? [])])}
        />
      </label>
      <label className="field">
        Or a SKILL.md
        <input type="file" accept=".md" onChange={({ target }) => setFiles([...(target.files ?? [])])} />
      </label>
      <Field
        label="Or copy a folder in the working directory of the server"
        placeholder=".agents/skills/release"
        value={path}
        spellCheck={false}
        onChange={({ target }) => setPath(target.value)}
      />
    </Dialog>
  );
}

/** Paths in an uploaded folder begin with its name. */
async function uploaded(file: File): Promise<{ path: string; content: string }> {
  const inner = file.webkitRelativePath.split('/').slice(1).join('/');
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { path: inner || 'SKILL.md', content: bytes.toBase64() };
}
