/** Small documents for tests. */
import { strToU8, zipSync } from 'fflate';

const zipped = (parts: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    zipSync(Object.fromEntries(Object.entries(parts).map(([path, text]) => [path, strToU8(text)]))),
  );

const relations = (targets: readonly string[]): string =>
  `<Relationships>${targets.map((target, index) => `<Relationship Id="r${index + 1}" Target="${target}"/>`).join('')}</Relationships>`;

export const word = (body: string, footnotes?: string, before = ''): Uint8Array<ArrayBuffer> =>
  zipped({
    'word/document.xml': `<?xml version="1.0"?>${before}<w:document><w:body>${body}</w:body></w:document>`,
    ...(footnotes !== undefined && { 'word/footnotes.xml': `<w:footnotes>${footnotes}</w:footnotes>` }),
  });

/** `order`: numbers of the slides as they are shown. */
export const powerPoint = (texts: readonly string[], order: readonly number[]): Uint8Array<ArrayBuffer> =>
  zipped({
    'ppt/presentation.xml': `<p:presentation><p:sldIdLst>${order.map((number) => `<p:sldId id="25${number}" r:id="r${number}"/>`).join('')}</p:sldIdLst></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(texts.map((_, index) => `slides/slide${index + 1}.xml`)),
    ...Object.fromEntries(
      texts.map((text, index) => [
        `ppt/slides/slide${index + 1}.xml`,
        `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`,
      ]),
    ),
  });

/** A sheet with rows as XML. Style 1 is a date. */
export const excel = (name: string, rows: string, strings: readonly string[]): Uint8Array<ArrayBuffer> =>
  zipped({
    'xl/workbook.xml': `<workbook><sheets><sheet name="${name.replace('&', '&amp;')}" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(['worksheets/sheet1.xml']),
    'xl/sharedStrings.xml': `<sst>${strings.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
    'xl/styles.xml': '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
  });

/** A page for each text. */
export function pdf(pages: readonly string[]): Uint8Array<ArrayBuffer> {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, index) => {
      const stream = `BT /F1 24 Tf 72 720 Td (${text}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * index} 0 R >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const start = file.length;
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return new Uint8Array(new TextEncoder().encode(file));
}
