--[[
Takes a string of bits as others have left it for the live generation: fills it up to its full length, sets the canaries, and
writes the metadata.

KEYS[1]  meta
KEYS[2]  the string
KEYS[3]  a hash with settings that peers keep beside it, if they do
ARGV[1]  states in which meta may be, separated by spaces; one that is missing is unbuilt
ARGV[2]  proof: length in bytes (4), number of canaries (1), the byte offset of each (4), all big-endian; then the bytes with
         which the string must begin
ARGV[3]  bits of the last byte that no id has
ARGV[4]  '1': an empty string is made when there is none
ARGV[5]  number of arguments that follow about the settings: fields and the values they must have
ARGV[6..] these, then fields and values of the generation

Reply: 'STALE'    a generation is live, or meta has another state
       'MISSING'  there is no such string
       'TYPE'     the key has another type
       'LENGTH'   the string is longer than the filter, or shorter than a filter with so many bits set would be
       'HEAD'     the string begins with other bytes
       'SETTINGS' the settings are others
       'OK'
]]
local meta, key = KEYS[1], KEYS[2]
local kind = redis.call('TYPE', meta).ok
if kind == 'hash' then
  if redis.call('HEXISTS', meta, 'token') == 1 then return 'STALE' end
  local state = redis.call('HGET', meta, 'state')
  if not state or not string.find(ARGV[1], state, 1, true) then return 'STALE' end
  -- A rebuild of another process was begun: what is there may be what it left.
  if ARGV[1] == 'unbuilt' then return 'MISSING' end
elseif kind ~= 'none' then
  return 'STALE'
end
local length, canaries = struct.unpack('>I4B', ARGV[2])
local head = string.sub(ARGV[2], 6 + 4 * canaries)
local settings = tonumber(ARGV[5])
local hasSettings = settings > 0 and redis.call('TYPE', KEYS[3]).ok == 'hash'
for i = 6, 5 + settings, 2 do
  if not hasSettings or redis.call('HGET', KEYS[3], ARGV[i]) ~= ARGV[i + 1] then return 'SETTINGS' end
end
local stringType = redis.call('TYPE', key).ok
if stringType == 'none' and ARGV[4] ~= '1' then return 'MISSING' end
if stringType ~= 'none' and stringType ~= 'string' then return 'TYPE' end
local found = redis.call('STRLEN', key)
if found > length then return 'LENGTH' end
if found == length and string.byte(redis.call('GETRANGE', key, -1, -1)) % 2 ^ ARGV[3] ~= 0 then return 'LENGTH' end
if head ~= '' and redis.call('GETRANGE', key, 0, #head - 1) ~= head then return 'HEAD' end

-- Bits are spread evenly: so many of them are all in the first part of a filter with a chance of less than e^-28. This is a
-- whole filter of less bits.
if found < length and redis.call('BITCOUNT', key, 0, 262143) * math.log(found / length) < -28 then return 'LENGTH' end

-- A string of its full length, which peers read as before: one that was cut short is noticed.
if found < length then redis.call('SETRANGE', key, string.format('%d', length - 1), '\0') end
for i = 1, canaries do
  redis.call('SETRANGE', key, string.format('%d', (struct.unpack('>I4', ARGV[2], 2 + 4 * i))), '\255')
end
local info = redis.pcall('INFO', 'server')
local runId = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
redis.call('HDEL', meta, 'recent')
redis.call('HSET', meta, 'state', 'ready', 'runId', runId, unpack(ARGV, 6 + settings))
return 'OK'
