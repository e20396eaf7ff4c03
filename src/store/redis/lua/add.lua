--[[
Sets the bits of ids in the live generation and in the staged one.

KEYS[1]    meta
KEYS[2..]  the segments that the records name, live and staged
ARGV[1]    tag of the live generation as the caller knows it, '' for none
ARGV[2]    tag of the staged generation as the caller knows it, '' for none
ARGV[3]    positions of an id in the live generation
ARGV[4]    positions of an id in the staged generation
ARGV[5]    live records, one for each id, big-endian: index into KEYS from 1 (2), block within the segment (2), positions
           within the block (2 each)
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

-- Reads a block first: proves that it is there and of this generation, and an id that is there already costs no write.
local function set(records, hashCount, tag)
  local head = struct.pack('<I4', tonumber(tag, 16))
  local width = 4 + 2 * hashCount
  local flags, added = {}, 0
  for at = 1, #records, width do
    local record = { string.byte(records, at, at + width - 1) }
    local key = KEYS[record[1] * 256 + record[2]]
    local from = (record[3] * 256 + record[4]) * 256
    local block = redis.pcall('GETRANGE', key, from, from + 255)
    if type(block) ~= 'string' or #block ~= 256 or string.sub(block, 1, 4) ~= head then return nil end
    local flag = '0'
    for i = 5, width, 2 do
      local position = record[i] * 256 + record[i + 1]
      local byte = string.byte(block, bit.rshift(position, 3) + 1)
      if bit.band(byte, bit.lshift(1, bit.band(position, 7))) == 0 then
        -- Positions count from the least significant bit of a byte, SETBIT from the most significant one.
        redis.call('SETBIT', key, from * 8 + bit.bxor(position, 7), 1)
        flag = '1'
      end
    end
    flags[#flags + 1] = flag
    if flag == '1' then added = added + 1 end
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
