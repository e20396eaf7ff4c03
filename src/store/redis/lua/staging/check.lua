--[[
Reads the blocks of several ids.

KEYS     the segments that the records name
ARGV[1]  a record for each id: index into KEYS from 1 (2 bytes, big-endian), then the first and the last byte of the block within
         the segment as GETRANGE takes them, each its length (1 byte) and decimal text

Reply: for each record its block of 256 bytes; something else for one that is not there whole
]]
local records, keys, unpack, read = ARGV[1], KEYS, struct.unpack, redis.pcall
local blocks, n, at, key, from, to = {}, 0, 1
while at <= #records do
  -- Texts, since Redis 7.0 takes longer to make them of numbers than to read the block.
  key, from, to, at = unpack('>HBc0Bc0', records, at)
  n = n + 1
  -- Joined to one string they would cost the server twice as much: Lua hashes every byte of a string.
  blocks[n] = read('GETRANGE', keys[key], from, to)
  -- A key of another type is no segment; whatever else the server refuses is the caller's to hear.
  if type(blocks[n]) == 'table' and not string.find(blocks[n].err, 'WRONGTYPE', 1, true) then return blocks[n] end
end
return blocks
