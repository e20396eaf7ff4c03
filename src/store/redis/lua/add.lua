--[[
Sets the bits of ids in the live generation and in the staged one.

KEYS[1]    meta
KEYS[2..]  the segments that the records name, live and staged
ARGV[1]    tag of the live generation as the caller knows it, '' for none
ARGV[2]    tag of the staged generation as the caller knows it, '' for none
ARGV[3]    positions of an id in the live generation
ARGV[4]    positions of an id in the staged generation
ARGV[5]    live records, one for each id, big-endian: index into KEYS from 1 (2), block within the segment (2), then for each
           position within the block its 32-bit word (1) and the bit of that (1)
ARGV[6]    staged records, in the same form

Reply: 'NOMETA'  meta is missing; nothing was set
       'STALE'   the generations are others than the caller knows; nothing was set
       'LOST'    a live block is not there, or is not of this generation
       { flags } a character for each id: '1' when it was not there before
]]
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 'NOMETA' end
local known = redis.call('HMGET', KEYS[1], 'tag', 'pending.tag')
--safety:add-tag
if (known[1] or '') ~= ARGV[1] then return 'STALE' end
--end
--safety:add-pending-tag
if (known[2] or '') ~= ARGV[2] then return 'STALE' end
--end

local format, byte, lshift, band, bor = string.format, string.byte, bit.lshift, bit.band, bit.bor
local words64 = '<' .. string.rep('I4', 64)

-- Reads a block first: proves that it is there and of this generation, and an id that is there already costs no write. A block is
-- written whole: SETBITs take longer and are more for a replica to read. Numbers are made text here: Redis takes twice as long.
local function set(records, hashCount, tag)
  local width, head = 4 + 2 * hashCount, tonumber(tag, 16)
  local flags, added = {}, 0
  for at = 1, #records, width do
    local record = { byte(records, at, at + width - 1) }
    local key = KEYS[record[1] * 256 + record[2]]
    local from = (record[3] * 256 + record[4]) * 256
    local block = redis.pcall('GETRANGE', key, format('%d', from), format('%d', from + 255))
    if type(block) ~= 'string' or #block ~= 256 then return nil end
    local words = { struct.unpack(words64, block) }
    if words[1] ~= head then return nil end
    local flag = '0'
    for i = 5, width, 2 do
      local word, mask = record[i] + 1, lshift(1, record[i + 1])
      if band(words[word], mask) == 0 then
        words[word] = bor(words[word], mask)
        flag = '1'
      end
    end
    flags[#flags + 1] = flag
    if flag == '1' then
      redis.call('SETRANGE', key, format('%d', from), struct.pack(words64, unpack(words, 1, 64)))
      added = added + 1
    end
  end
  return table.concat(flags), added
end

local flags, added
if ARGV[1] ~= '' then
  flags, added = set(ARGV[5], tonumber(ARGV[3]), ARGV[1])
  if not flags then return 'LOST' end
  if added > 0 then redis.call('HINCRBY', KEYS[1], 'count', added) end
end
--safety:double-write
if ARGV[2] ~= '' then
  local stagedFlags, stagedAdded = set(ARGV[6], tonumber(ARGV[4]), ARGV[2])
  -- A staged block that is gone is not made again, and this staging, which lacks an id now, must not go live.
  if not stagedFlags then
    redis.call('HDEL', KEYS[1], 'pending.tag', 'pending.token')
  elseif stagedAdded > 0 then
    redis.call('HINCRBY', KEYS[1], 'pending.count', stagedAdded)
  end
  flags = flags or stagedFlags
end
--end
return { flags or '' }
