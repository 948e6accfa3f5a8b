/** An image that may be a logo. */
export interface LogoImage {
  mediaType: 'image/png' | 'image/jpeg' | 'image/webp';
  width: number;
  height: number;
}

const maxSide = 4_096;

/**
 * Detects the type of an image from its bytes, ignoring the declared media type: PNG, JPEG or WebP. SVG is
 * not accepted, because it can contain scripts. Undefined for all other types and for images of more than
 * 4,096 pixels on a side.
 */
export function readLogoImage(body: Buffer): LogoImage | undefined {
  const image = readPng(body) ?? readJpeg(body) ?? readWebp(body);
  if (!image) return undefined;
  const isValid = [image.width, image.height].every((side) => side >= 1 && side <= maxSide);
  return isValid ? image : undefined;
}

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function readPng(body: Buffer): LogoImage | undefined {
  if (body.length < 33 || !body.subarray(0, 8).equals(pngStart) || body.toString('latin1', 12, 16) !== 'IHDR')
    return undefined;
  return { mediaType: 'image/png', width: body.readUInt32BE(16), height: body.readUInt32BE(20) };
}

/** Walks the segments to the frame header, whose marker is one of SOF0 to SOF15 without DHT, JPG and DAC. */
function readJpeg(body: Buffer): LogoImage | undefined {
  if (body.length < 4 || body.readUInt16BE(0) !== 0xffd8) return undefined;
  let at = 2;
  while (at + 9 < body.length && body[at] === 0xff) {
    const marker = body[at + 1] as number;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame)
      return { mediaType: 'image/jpeg', width: body.readUInt16BE(at + 7), height: body.readUInt16BE(at + 5) };
    // Skip padding bytes before a marker.
    at += marker === 0xff ? 1 : 2 + body.readUInt16BE(at + 2);
  }
  return undefined;
}

function readWebp(body: Buffer): LogoImage | undefined {
  if (
    body.length < 30 ||
    body.toString('latin1', 0, 4) !== 'RIFF' ||
    body.toString('latin1', 8, 12) !== 'WEBP'
  )
    return undefined;
  const mediaType = 'image/webp';
  switch (body.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { mediaType, width: body.readUIntLE(24, 3) + 1, height: body.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = body.readUInt32LE(21);
      return { mediaType, width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { mediaType, width: body.readUInt16LE(26) & 0x3fff, height: body.readUInt16LE(28) & 0x3fff };
    default:
      return undefined;
  }
}
