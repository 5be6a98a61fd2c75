/** The input of a call: its command or patch as such, everything else as JSON. */
import type { CallView } from '@parlance/sdk';
import { commandLine } from '../components/approval/approval-text.ts';
import { PatchView } from '../components/approval/patch-view.tsx';
import { reportedFiles } from '../components/approval/patched-file.ts';
import { Code } from '../markdown/code-block.tsx';
import { CallSection } from './call-section.tsx';

export const isCommand = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string');

export function CallInput({ call }: { call: CallView }) {
  const { input, malformed, approval, state } = call;
  if (malformed !== undefined)
    return (
      <CallSection title="Malformed input (not JSON)" copy={malformed}>
        <Code code={malformed} language="" />
      </CallSection>
    );
  const { command, ...rest } = input;
  // A shell runs patches, too.
  const patch = typeof input.patch === 'string' ? input.patch : approval?.ask.patch;
  if (patch !== undefined) {
    const known = approval?.ask.files ?? (state.phase === 'ended' ? reportedFiles(state.data) : undefined);
    return (
      <CallSection title="Patch" copy={patch}>
        <PatchView patch={patch} replaces={approval?.ask.replaces} files={known} />
      </CallSection>
    );
  }
  if (isCommand(command)) {
    const line = commandLine(command);
    return (
      <>
        <CallSection title="Command" copy={line}>
          <Code code={line} language="bash" />
        </CallSection>
        <Fields fields={rest} />
      </>
    );
  }
  return <Fields fields={input} />;
}

function Fields({ fields }: { fields: CallView['input'] }) {
  const json = JSON.stringify(fields, null, 2);
  if (json === '{}') return null;
  return (
    <CallSection title="Input" copy={json}>
      <Code code={json} language="json" />
    </CallSection>
  );
}
